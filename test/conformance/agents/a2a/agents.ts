import { Role, type Task } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client'
import { beforeAll, expect } from 'vitest'
import { useDeployment } from '../../deployments/use-deployment.ts'

type Content = { text: string } | { data: unknown } | { raw: string; mediaType: string; filename: string }

/** A message of the user, in the form of the newest client. */
export function message(contents: Content[], place: { contextId?: string; taskId?: string } = {}) {
  const parts = contents.map((content) => {
    const blank = { metadata: undefined, filename: '', mediaType: '' }
    if ('text' in content) return { ...blank, content: { $case: 'text', value: content.text } as const }
    if ('data' in content) return { ...blank, content: { $case: 'data', value: content.data } as const }
    const { raw, mediaType, filename } = content
    return { ...blank, mediaType, filename, content: { $case: 'raw', value: Buffer.from(raw) } as const }
  })
  return {
    messageId: crypto.randomUUID(),
    contextId: '',
    taskId: '',
    ...place,
    role: Role.ROLE_USER,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
}

interface Options {
  returnImmediately?: boolean
  historyLength?: number
}

export function asked(sent: ReturnType<typeof message>, options: Options = {}) {
  const configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    returnImmediately: false,
    ...options,
  }
  return { tenant: '', message: sent, configuration, metadata: undefined }
}

export async function send(
  client: Client,
  sent: ReturnType<typeof message>,
  options?: Options,
): Promise<Task> {
  return (await client.sendMessage(asked(sent, options))) as Task
}

/** The contents of the parts of all artifacts. */
export function textsOf({ artifacts }: Task): unknown[] {
  return artifacts.flatMap(({ parts }) => parts.map(({ content }) => content?.value as unknown))
}

/** The agents of a shared server, and ways to talk to them. */
export function useAgents() {
  const setup = useDeployment()
  const ids = new Map<string, string>()

  const withKey: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('x-api-key', setup().weir.key)
    return await fetch(input, { ...init, headers })
  }

  beforeAll(async () => {
    const { client, request } = setup()
    // The setup checks that some response fits the document.
    expect((await request('/info')).status).toBe(200)
    for (const { assistant_id, graph_id } of await client.assistants.search({
      metadata: { created_by: 'system' },
      limit: 100,
    }))
      if (!ids.has(graph_id)) ids.set(graph_id, assistant_id)
  })

  async function clientOf(graph: string): Promise<Client> {
    const fetchImpl = withKey
    const transports = [new JsonRpcTransportFactory({ fetchImpl })]
    const cardResolver = new DefaultAgentCardResolver({ fetchImpl })
    const factory = new ClientFactory({ transports, cardResolver })
    return await factory.createFromUrl(`${setup().url}/a2a/${ids.get(graph)}`, '')
  }

  async function rpc(
    method: string,
    params: unknown,
    graph = 'talking',
    headers: Record<string, string> = {},
  ) {
    const response = await withKey(`${setup().url}/a2a/${ids.get(graph)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }),
    })
    return (await response.json()) as {
      id: number
      result?: { history: { taskId: string }[] }
      error?: { code: number; data?: unknown }
    }
  }

  async function codeOf(method: string, params: unknown, graph?: string, headers?: Record<string, string>) {
    return (await rpc(method, params, graph, headers)).error?.code
  }

  return { setup, ids, withKey, clientOf, rpc, codeOf }
}
