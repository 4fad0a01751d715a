// A server of the second generation: node server-v2.mjs stdio|http|sessions
// stdio and http serve both eras, sessions only the one with sessions.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
    McpServer, ResourceNotFoundError, ResourceTemplate, completable, createMcpHandler, inputRequired,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { listen, register } from './features.mjs';

// Over HTTP every request gets a server of its own, so what one of them has
// grown is kept here and told to the others by tell.
let grown = false;
let tell = () => {};

function newServer() {
    const server = new McpServer({ name: 'everything', version: '1.0.0' }, {
        instructions: 'Call what you like.', capabilities: { logging: {}, tools: { listChanged: true } },
    });
    const grow = () => server.registerTool('grown', {}, () => ({ content: [] }));
    register(server, {
        ResourceTemplate,
        completable,
        args: shape => z.object(shape),
        notFound: uri => new ResourceNotFoundError(uri),
        grow: () => {
            grown = true;
            grow();
            tell();
        },
        context: ctx => ({
            signal: ctx.mcpReq.signal,
            progressToken: ctx.mcpReq._meta?.progressToken,
            notify: n => ctx.mcpReq.notify(n),
            log: (level, data, logger) => ctx.mcpReq.log(level, data, logger),
            ask: questions => {
                const answers = ctx.mcpReq.inputResponses;
                return answers ? { answers } : { required: inputRequired({ inputRequests: mapped(questions, question) }) };
            },
        }),
    });
    if (grown) grow();
    return server;
}

const mapped = (object, f) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, f(value)]));

function question({ method, params }) {
    const { elicit, elicitUrl, createMessage, listRoots } = inputRequired;
    switch (method) {
        case 'elicitation/create': return params.mode === 'url' ? elicitUrl({ message: params.message, url: params.url }) : elicit(params);
        case 'sampling/createMessage': return createMessage(params);
        default: return listRoots();
    }
}

switch (process.argv[2]) {
    case 'stdio':
        serveStdio(newServer);
        break;
    case 'http': {
        const handler = createMcpHandler(newServer);
        tell = () => handler.notify.toolsChanged();
        listen(createServer(toNodeHandler(handler)));
        break;
    }
    default: {
        const sessions = new Map();
        listen(createServer(async (req, res) => {
            const id = req.headers['mcp-session-id'];
            let transport = sessions.get(id);
            if (id && !transport) return res.writeHead(404).end();
            if (!transport) {
                transport = new NodeStreamableHTTPServerTransport({
                    sessionIdGenerator: randomUUID,
                    onsessioninitialized: fresh => { sessions.set(fresh, transport); },
                });
                transport.onclose = () => sessions.delete(transport.sessionId);
                await newServer().connect(transport);
            }
            await transport.handleRequest(req, res);
        }));
    }
}
