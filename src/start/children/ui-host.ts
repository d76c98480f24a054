import { serveUiBundles } from '../../graph/ui-bundles/child.ts'

// Composition root of the process that bundles a deployment's UI components.
serveUiBundles()
