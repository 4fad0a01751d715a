// report goes through everything a server of these tests offers and writes down
// what the client shows of it: one short text for each step. The Go tests know
// what it should be, and a Go client writes the same report.
//
// The client is wrapped in an object with the calls that differ between the
// versions of the package; see client-v1.mjs and client-v2.mjs.
export async function report(peer) {
    const { client } = peer;
    const steps = {};
    const step = async (name, run) => {
        try {
            steps[name] = await run();
        } catch (err) {
            steps[name] = peer.code(err);
        }
    };
    const call = (name, args = {}, options = {}) => peer.callTool({ name, arguments: args }, options);

    await step('revision', () => peer.revision());
    await step('server', () => `${client.getServerVersion().name}: ${client.getInstructions() ?? ''}`);
    await step('tools', async () => (await pages(peer, cursor => client.listTools(cursor), 'tools')).map(t => t.name).sort().join(' '));
    await step('schema', async () => {
        const tools = await pages(peer, cursor => client.listTools(cursor), 'tools');
        const { inputSchema, outputSchema } = tools.find(t => t.name === 'add');
        const outputs = Object.keys(outputSchema?.properties ?? {});
        return `${Object.keys(inputSchema.properties).sort().join(' ')} -> ${outputs.join(' ')}`.trim();
    });
    await step('call', async () => {
        const result = await call('add', { a: 1, b: 2 });
        return `${JSON.stringify(result.structuredContent ?? null)} ${result.content.map(show).join(', ')}`;
    });
    await step('tool error', async () => outcome(await call('fail')));
    await step('wrong arguments', async () => outcome(await call('add', { a: 'one' }), true));
    await step('unknown tool', async () => outcome(await call('nothing'), true));
    await step('content', async () => (await call('blocks')).content.map(show).join(', '));
    await step('progress', async () => {
        const seen = [];
        const result = await call('count', { to: 3 }, {
            onprogress: p => seen.push(`${p.progress}/${p.total} ${p.message ?? ''}`.trim()),
        });
        return [...seen, outcome(result)].join(', ');
    });
    await step('cancel', async () => {
        const abort = new AbortController();
        const ended = call('wait', {}, { signal: abort.signal, onprogress: () => abort.abort(new Error('enough')) })
            .then(() => 'answered', () => 'given up');
        const here = await ended;
        return `${here}, ${outcome(await call('waited'))}`;
    });
    await step('resources', async () => (await pages(peer, c => client.listResources(c), 'resources')).map(r => r.uri).join(' '));
    await step('templates', async () =>
        (await pages(peer, c => client.listResourceTemplates(c), 'resourceTemplates')).map(t => t.uriTemplate).join(' '));
    await step('read', async () => contents(await client.readResource({ uri: 'note:1' })));
    await step('read template', async () => contents(await client.readResource({ uri: 'letter:Ada' })));
    await step('not found', async () => contents(await client.readResource({ uri: 'letter:nobody' })));
    await step('prompts', async () => (await pages(peer, c => client.listPrompts(c), 'prompts'))
        .map(p => `${p.name}(${p.arguments.map(a => a.name + (a.required ? '!' : '')).join(' ')})`).join(' '));
    await step('prompt', async () => {
        const { messages } = await client.getPrompt({ name: 'travel', arguments: { city: 'Rome' } });
        return messages.map(m => `${m.role}: ${m.content.text}`).join(', ');
    });
    await step('prompt without argument', async () => (await client.getPrompt({ name: 'travel', arguments: {} })).messages.length);
    await step('complete', async () => {
        const { completion } = await client.complete({
            ref: { type: 'ref/prompt', name: 'travel' }, argument: { name: 'city', value: 'Be' },
        });
        return completion.values.join(' ');
    });
    for (const [name, tool] of Object.entries({
        elicit: 'ask', 'elicit URL': 'visit', sample: 'think', roots: 'where', 'two questions': 'both',
    })) {
        await step(name, async () => {
            peer.questions(); // what an earlier step has left
            const result = await call(tool).catch(err => {
                if (!peer.code(err).startsWith('error ')) throw err;
                return { isError: true, content: [{ type: 'text', text: err.message }] };
            });
            if (result.isError) { // servers say it in many ways
                console.error(`${name}: ${outcome(result)}`);
                return 'refused';
            }
            const questions = peer.questions();
            return (questions && `${questions} -> `) + outcome(result);
        });
    }
    await step('log', async () => {
        const heard = peer.next('notifications/message');
        await peer.talk('info');
        const { level, logger, data } = await heard;
        return `${level} ${logger}: ${data}`;
    });
    await step('list changed', async () => {
        const done = await peer.listen();
        const heard = peer.next('notifications/tools/list_changed');
        await call('grow');
        await heard;
        await done();
        const tools = await pages(peer, cursor => client.listTools(cursor), 'tools');
        return tools.some(t => t.name === 'grown') ? 'told and there' : 'told, not there';
    });
    await step('ping', async () => {
        await peer.ping();
        return 'ok';
    });
    return steps;
}

// user answers what servers ask, and remembers it. Its methods take the
// parameters of a question, except questions, which returns those since it was
// called last.
export function user() {
    let asked = [];
    return {
        questions: () => {
            const all = asked.sort().join(', ');
            asked = [];
            return all;
        },
        elicit: ({ mode, message, url, requestedSchema }) => {
            if (mode === 'url') {
                asked.push(`${message} ${url}`);
                return { action: 'accept' };
            }
            asked.push(`${message} ${Object.keys(requestedSchema.properties).sort().join(' ')}`);
            return { action: 'accept', content: { name: 'Ada', color: 'green' } };
        },
        sample: ({ messages, maxTokens }) => {
            asked.push(`${[messages[0].content].flat()[0].text} ${maxTokens}`);
            return { role: 'assistant', model: 'm', content: { type: 'text', text: 'two' } };
        },
        roots: () => ({ roots: [{ uri: 'file:///work' }] }),
    };
}

// What a client has to declare to be asked everything.
export const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

// pages gathers all pages of a list.
async function pages(peer, list, member) {
    const all = [];
    for (let cursor; ;) {
        const page = await list(cursor === undefined ? undefined : { cursor });
        all.push(...page[member]);
        if (page.nextCursor === undefined) return all;
        cursor = page.nextCursor;
    }
}

// outcome shows a tool's result; vaguely leaves out the text of an error, which
// every implementation words differently.
function outcome(result, vaguely) {
    if (result.isError && vaguely) return 'tool error';
    return (result.isError ? 'tool error: ' : '') + result.content.map(show).join(', ');
}

function show(block) {
    switch (block.type) {
        case 'text': return block.text;
        case 'image': case 'audio': return `${block.type} ${block.mimeType} ${Buffer.from(block.data, 'base64').length}`;
        case 'resource_link': return `link ${block.uri}`;
        case 'resource': return `resource ${block.resource.uri} ${block.resource.text ?? ''}`;
        default: return `? ${block.type}`;
    }
}

function contents(result) {
    return result.contents.map(c => `${c.mimeType} ${c.text ?? Buffer.from(c.blob, 'base64').toString()}`).join(', ');
}

// limit fails what takes longer than it should.
export function limit(promise, what, ms = 3_000) {
    let timer;
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`no ${what} in time`)), ms); });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// finish prints the report and ends the process whatever is still open.
export async function finish(run) {
    try {
        console.log(JSON.stringify(await limit(run(), 'report', 50_000)));
        process.exit(0);
    } catch (err) {
        console.error(err);
        process.exit(1);
    }
}
