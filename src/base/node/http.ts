/**
 * Functions of `node:http`. An ES import of that module reads all its names; for one of them, WebSocket, Node then loads
 * its whole implementation of fetch, which takes 40 ms of CPU in each process.
 */
export const { createServer, request, ServerResponse } = process.getBuiltinModule('node:http')
