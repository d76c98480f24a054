import { serveHttpApp } from './graph/http-app-child.ts'

// The composition root of the process that runs a deployment's own HTTP app.
serveHttpApp()
