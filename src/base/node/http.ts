/**
 * Functions of `node:http`. An ES import of that module reads all its names, one of which (WebSocket) makes Node load
 * its whole implementation of fetch: 40 ms of CPU time in each process.
 */
export const { createServer, request, ServerResponse } = process.getBuiltinModule('node:http')
