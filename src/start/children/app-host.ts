import { serveHttpApp } from '../../graph/http-app/child.ts'

// Composition root of the process that runs a deployment's custom HTTP app.
serveHttpApp()
