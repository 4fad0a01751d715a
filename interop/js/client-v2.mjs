// A client of the second generation:
//
//	node client-v2.mjs legacy|legacy:REVISION|auto|REVISION URL | COMMAND [ARG...]
import {
    Client, LOG_LEVEL_META_KEY, ProtocolError, SSEClientTransport, StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { capabilities, finish, limit, report, user } from './report.mjs';

finish(async () => {
    const [era, target, ...args] = process.argv.slice(2);
    const transport = !target.startsWith('http:') ? new StdioClientTransport({ command: target, args })
        : target.endsWith('/sse') ? new SSEClientTransport(new URL(target))
        : new StreamableHTTPClientTransport(new URL(target));
    const [mode, only] = era.split(':');
    const client = new Client({ name: 'v2', version: '1.0.0' }, {
        capabilities,
        versionNegotiation: { mode: mode === 'legacy' || mode === 'auto' ? mode : { pin: mode } },
        ...(only && { supportedProtocolVersions: [only] }),
    });
    const { questions, elicit, sample, roots } = user();
    client.setRequestHandler('elicitation/create', request => elicit(request.params));
    client.setRequestHandler('sampling/createMessage', request => sample(request.params));
    client.setRequestHandler('roots/list', roots);
    await client.connect(transport, { timeout: 30_000 });
    const modern = client.getProtocolEra() === 'modern';
    const callTool = (params, options) => client.callTool(params, { timeout: 30_000, ...options });
    const steps = await report({
        client,
        callTool,
        questions,
        revision: () => client.getNegotiatedProtocolVersion(),
        code: err => (err instanceof ProtocolError ? `error ${err.code}` : err.message),
        next: method => limit(new Promise(resolve => client.setNotificationHandler(method, n => resolve(n.params))), method),
        talk: async level => {
            if (!modern) await client.setLoggingLevel(level);
            await callTool({ name: 'talk', arguments: {}, ...(modern && { _meta: { [LOG_LEVEL_META_KEY]: level } }) });
        },
        listen: async () => {
            if (!modern) return async () => {};
            const subscription = await client.listen({ toolsListChanged: true });
            return () => subscription.close();
        },
        ping: () => (modern ? client.discover() : client.ping()),
    });
    if (!modern) await transport.terminateSession?.();
    await client.close();
    return steps;
});
