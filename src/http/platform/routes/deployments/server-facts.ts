import { uuidParameter } from '../../../api/parameters.ts'
import { type PlatformRoute, route } from '../../route.ts'

const TAG = 'Deployments'

/** Capabilities of the server, and the addresses that LangSmith's clients expect. */
export function serverFactRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/deployments/runtimes',
      needs: 'deployments:read',
      summary: 'What deployed graphs can run in, and why not',
      tag: TAG,
      reply: 'deployment-runtimes',
      async handle({ deps }) {
        return { body: await (await deps.controlPlane()).runtimes.report() }
      },
    }),
    route({
      method: 'GET',
      path: '/v2/listeners',
      needs: 'deployments:read',
      summary: 'Always empty: this server has no listeners',
      tag: TAG,
      reply: 'deployment-listeners',
      async handle() {
        return { body: { resources: [], offset: 0 } }
      },
    }),
    route({
      method: 'GET',
      path: '/o/{tenant}/host/deployments/{id}',
      needs: 'open',
      summary: 'Redirects to the page of a deployment',
      description: 'The address that `langgraph deploy` prints.',
      tag: TAG,
      params: { tenant: uuidParameter('The workspace.'), id: uuidParameter('The deployment.') },
      reply: 'bytes',
      reply_type: 'text/plain',
      status: 302,
      async handle({ params }) {
        return { headers: { location: `/app/deployments/${params.id}` }, body: 'Found' }
      },
    }),
    route({
      method: 'GET',
      path: '/host/deployments',
      needs: 'open',
      summary: 'Redirects to the page of deployments',
      tag: TAG,
      reply: 'bytes',
      reply_type: 'text/plain',
      status: 302,
      async handle() {
        return { headers: { location: '/app/deployments' }, body: 'Found' }
      },
    }),
  ]
}
