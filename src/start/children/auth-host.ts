import { serveUserAuth } from '../../graph/user-auth/child.ts'

// The composition root of the process that runs a deployment's own auth file.
serveUserAuth()
