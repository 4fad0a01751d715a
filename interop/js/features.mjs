// register adds to a server what ../everything offers, by the packages of either
// generation: kit has what is imported from them, and context makes of what a
// handler is given an object with signal, progressToken, notify, log and ask.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const cancelled = waiter();

export function register(server, kit) {
    const text = (t, more) => ({ content: [{ type: 'text', text: t }], ...more });
    const tool = (name, inputSchema, run, outputSchema) => server.registerTool(name, {
        ...(inputSchema && { inputSchema: z.object(inputSchema) }),
        ...(outputSchema && { outputSchema: z.object(outputSchema) }),
    }, inputSchema ? (args, ctx) => run(kit.context(ctx), args) : ctx => run(kit.context(ctx), {}));

    tool('add', { a: z.number(), b: z.number() },
        (_, { a, b }) => text(JSON.stringify({ sum: a + b }), { structuredContent: { sum: a + b } }), { sum: z.number() });
    tool('fail', null, () => { throw new Error('the disk is full'); });
    tool('blocks', null, () => ({
        content: [
            { type: 'text', text: 'plain' },
            { type: 'image', data: 'AQID', mimeType: 'image/png' },
            { type: 'audio', data: 'BAU=', mimeType: 'audio/wav' },
            { type: 'resource_link', uri: 'note:1', name: 'one' },
            { type: 'resource', resource: { uri: 'note:1', mimeType: 'text/plain', text: 'first' } },
        ],
    }));
    tool('talk', null, async c => {
        await c.log('info', 'hello', 'interop');
        return text('talked');
    });
    tool('grow', null, () => {
        kit.grow(server);
        return text('grown');
    });
    tool('count', { to: z.number() }, async (c, { to }) => {
        for (let i = 1; i <= to; i++) {
            await progress(c, { progress: i, total: to, message: `step ${i}` });
            await sleep(5);
        }
        return text('counted');
    });
    tool('wait', null, async c => {
        await progress(c, { progress: 1, message: 'waiting' });
        await new Promise(resolve => c.signal.addEventListener('abort', resolve));
        cancelled.tell();
        return text('too late');
    });
    tool('waited', null, async () => {
        await cancelled.told;
        return text('cancelled');
    });

    questions(tool, text);

    server.registerResource('one', 'note:1', { mimeType: 'text/plain' },
        uri => ({ contents: [{ uri: String(uri), mimeType: 'text/plain', text: 'first' }] }));
    server.registerResource('letters', new kit.ResourceTemplate('letter:{name}', { list: undefined }), {}, (uri, { name }) => {
        if (name === 'nobody') throw kit.notFound(String(uri));
        const blob = Buffer.from(`to ${name}`).toString('base64');
        return { contents: [{ uri: String(uri), mimeType: 'application/octet-stream', blob }] };
    });
    const cities = ['Berlin', 'Bern', 'Paris'];
    const city = kit.completable(z.string(), value => cities.filter(c => c.startsWith(value ?? '')));
    server.registerPrompt('travel', { argsSchema: kit.args({ city }) },
        args => ({ messages: [{ role: 'user', content: { type: 'text', text: `Plan a trip to ${args.city}` } }] }));
}

// questions adds the tools that ask the client. ask of a context takes questions
// by key, each a method with its parameters, and returns the answers by key, or
// what to return so that they come.
function questions(tool, text) {
    const form = {
        method: 'elicitation/create',
        params: {
            mode: 'form',
            message: 'Who are you?',
            requestedSchema: {
                type: 'object',
                properties: { name: { type: 'string' }, color: { type: 'string', enum: ['red', 'green'] } },
                required: ['name'],
            },
        },
    };
    const page = { method: 'elicitation/create', params: { mode: 'url', message: 'Sign in', url: 'https://example.com/sign-in', elicitationId: 'e1' } };
    const riddle = {
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content: { type: 'text', text: 'What is 1+1?' } }], maxTokens: 10 },
    };
    const roots = { method: 'roots/list' };
    const all = { ask: { form }, visit: { page }, think: { riddle }, where: { roots }, both: { form, roots } };
    for (const [name, asked] of Object.entries(all)) {
        tool(name, null, async c => {
            const { answers, required } = await c.ask(asked);
            return required ?? text(Object.keys(asked).map(key => show(answers[key])).join(', '));
        });
    }
}

function show(answer) {
    if (answer.roots) return answer.roots[0].uri;
    if (answer.model) return `${answer.model} says ${[answer.content].flat()[0].text}`;
    return answer.content ? `${answer.action} ${answer.content.name} ${answer.content.color}` : answer.action;
}

async function progress(c, params) {
    if (c.progressToken === undefined) return;
    await c.notify({ method: 'notifications/progress', params: { progressToken: c.progressToken, ...params } });
}

function waiter() {
    let tell;
    const told = new Promise(resolve => { tell = resolve; });
    return { tell, told };
}

// listen serves HTTP on a free port and prints the URL.
export function listen(http) {
    http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
