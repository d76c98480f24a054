import { createDocsFiles, DOCS_FILES } from './docs-files.ts'
import { DOCS_HEADERS, docsPage } from './docs-page.ts'
import { choiceParameter } from './parameters.ts'
import { type Route, routeOn } from './route.ts'

const TAG = 'System'

/** The page that shows the document, and its files. */
function docsRoutes<D extends { version: string }>(): Route<D>[] {
  const documentRoute = routeOn<D>()
  const readDocsFile = createDocsFiles()
  return [
    documentRoute({
      method: 'GET',
      path: '/docs',
      needs: 'open',
      summary: 'This API as a page, on which it can be tried',
      tag: TAG,
      reply: 'bytes',
      reply_type: 'text/html; charset=utf-8',
      handle: async ({ deps }) => ({
        headers: { ...DOCS_HEADERS, 'cache-control': 'no-cache' },
        body: docsPage(deps.version),
      }),
    }),
    documentRoute({
      method: 'GET',
      path: '/docs/{file}',
      needs: 'open',
      summary: 'Scripts and styles of that page',
      tag: TAG,
      params: { file: choiceParameter('The file.', DOCS_FILES) },
      reply: 'bytes',
      reply_type: 'text/javascript; charset=utf-8',
      other_types: ['text/css; charset=utf-8'],
      handle: async ({ params: { file } }) => ({
        headers: {
          ...DOCS_HEADERS,
          'content-type': file.endsWith('.css')
            ? 'text/css; charset=utf-8'
            : 'text/javascript; charset=utf-8',
          'content-encoding': 'gzip',
          'cache-control': 'public, max-age=86400',
        },
        body: await readDocsFile(file),
      }),
    }),
  ]
}

/** The document of an API, and the page that shows it. `openApi` makes the document. */
export function documentRoutes<D extends { version: string }>(
  openApi: (version: string) => object,
): Route<D>[] {
  const documentRoute = routeOn<D>()
  return [
    documentRoute({
      method: 'GET',
      path: '/openapi.json',
      needs: 'open',
      summary: 'This API as OpenAPI 3.1',
      tag: TAG,
      reply: 'bytes',
      revalidates: true,
      handle: async ({ deps }) => ({ body: JSON.stringify(openApi(deps.version)) }),
    }),
    ...docsRoutes<D>(),
  ]
}
