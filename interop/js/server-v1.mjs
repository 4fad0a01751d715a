// A server of the first generation: node server-v1.mjs stdio|http|sse
// Over HTTP it has sessions and streams that can be resumed; sse is HTTP+SSE.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { listen, register } from './features.mjs';

function newServer() {
    const server = new McpServer({ name: 'everything', version: '1.0.0' }, {
        instructions: 'Call what you like.', capabilities: { logging: {} },
    });
    register(server, {
        ResourceTemplate,
        completable,
        args: shape => shape,
        notFound: uri => new McpError(-32002, `not found: ${uri}`, { uri }),
        grow: s => s.registerTool('grown', {}, () => ({ content: [] })),
        context: extra => ({
            signal: extra.signal,
            progressToken: extra._meta?.progressToken,
            notify: n => extra.sendNotification(n),
            log: (level, data, logger) => extra.sendNotification({ method: 'notifications/message', params: { level, logger, data } }),
            ask: async questions => {
                const pairs = Object.entries(questions).map(async ([key, q]) => [key, await ask(server.server, q, extra.requestId)]);
                return { answers: Object.fromEntries(await Promise.all(pairs)) };
            },
        }),
    });
    return server;
}

function ask(server, { method, params }, relatedRequestId) {
    switch (method) {
        case 'elicitation/create': return server.elicitInput(params, { relatedRequestId });
        case 'sampling/createMessage': return server.createMessage(params, { relatedRequestId });
        default: return server.listRoots(params, { relatedRequestId });
    }
}

if (process.argv[2] === 'stdio') {
    await newServer().connect(new StdioServerTransport());
} else if (process.argv[2] === 'sse') {
    const sessions = new Map();
    listen(createServer(async (req, res) => {
        const url = new URL(req.url, 'http://localhost');
        if (req.method === 'GET') {
            const transport = new SSEServerTransport('/messages', res);
            sessions.set(transport.sessionId, transport);
            transport.onclose = () => sessions.delete(transport.sessionId);
            return newServer().connect(transport);
        }
        const transport = sessions.get(url.searchParams.get('sessionId'));
        if (req.method !== 'POST' || !transport) return res.writeHead(url.pathname === '/messages' ? 404 : 405).end();
        await transport.handlePostMessage(req, res);
    }));
} else {
    const sessions = new Map();
    listen(createServer(async (req, res) => {
        const id = req.headers['mcp-session-id'];
        let transport = sessions.get(id);
        if (id && !transport) return res.writeHead(404).end();
        if (!transport) {
            transport = new StreamableHTTPServerTransport({
                sessionIdGenerator: randomUUID,
                eventStore: newStore(),
                onsessioninitialized: fresh => sessions.set(fresh, transport),
            });
            transport.onclose = () => sessions.delete(transport.sessionId);
            await newServer().connect(transport);
        }
        await transport.handleRequest(req, res);
    }));
}

// newStore keeps the events of a session's streams, so that each has an id.
function newStore() {
    const events = [];
    return {
        async storeEvent(stream, message) {
            return `${stream}/${events.push({ stream, message })}`;
        },
        async replayEventsAfter(last, { send }) {
            const at = last.lastIndexOf('/');
            const stream = last.slice(0, at);
            for (let i = Number(last.slice(at + 1)); i < events.length; i++) {
                if (events[i].stream === stream) await send(`${stream}/${i + 1}`, events[i].message);
            }
            return stream;
        },
    };
}
