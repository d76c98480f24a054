import { serveTypeSchemas } from '../../graph/type-schemas/child.ts'

// Composition root of the process that reads schemas from the TypeScript types of a deployment's graphs.
serveTypeSchemas()
