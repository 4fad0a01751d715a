// A client of the first generation: node client-v1.mjs URL | COMMAND [ARG...]
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema, McpError,
    ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { capabilities, finish, limit, report, user } from './report.mjs';

const schemas = {
    'notifications/message': LoggingMessageNotificationSchema,
    'notifications/tools/list_changed': ToolListChangedNotificationSchema,
};

finish(async () => {
    const [target, ...args] = process.argv.slice(2);
    const transport = !target.startsWith('http:') ? new StdioClientTransport({ command: target, args })
        : target.endsWith('/sse') ? new SSEClientTransport(new URL(target))
        : new StreamableHTTPClientTransport(new URL(target));
    let revision;
    const tell = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = version => { revision = version; tell?.(version); };
    const client = new Client({ name: 'v1', version: '1.0.0' }, { capabilities });
    const { questions, elicit, sample, roots } = user();
    client.setRequestHandler(ElicitRequestSchema, request => elicit(request.params));
    client.setRequestHandler(CreateMessageRequestSchema, request => sample(request.params));
    client.setRequestHandler(ListRootsRequestSchema, roots);
    await client.connect(transport, { timeout: 30_000 });
    const callTool = (params, options) => client.callTool(params, undefined, { timeout: 30_000, ...options });
    const steps = await report({
        client,
        callTool,
        questions,
        revision: () => revision,
        code: err => (err instanceof McpError ? `error ${err.code}` : err.message),
        next: method => limit(new Promise(resolve => client.setNotificationHandler(schemas[method], n => resolve(n.params))), method),
        talk: async level => {
            await client.setLoggingLevel(level);
            await callTool({ name: 'talk', arguments: {} });
        },
        listen: async () => async () => {},
        ping: () => client.ping(),
    });
    await transport.terminateSession?.();
    await client.close();
    return steps;
});
