import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk'
import { describe, expect, it } from 'vitest'
import { asked, message, send, textsOf, useAgents } from './agents.ts'

const { clientOf, codeOf } = useAgents()

describe('streams and lists of the newest client', () => {
  it('A2A-10: a stream has the task, the answer so far, the artifact and the end', async () => {
    const client = await clientOf('tokens')
    const events: StreamResponse[] = []
    const sent = message([{ text: 'count' }, { data: { tokens: 5, tokenDelayMs: 20 } }])
    for await (const event of client.sendMessageStream(asked(sent))) events.push(event)
    const kinds = events.map(({ payload }) => payload?.$case)
    expect(kinds[0]).toBe('task')
    expect(kinds.slice(-2)).toEqual(['artifactUpdate', 'statusUpdate'])
    const texts = events.flatMap(({ payload }) =>
      payload?.$case === 'statusUpdate'
        ? [String(payload.value.status?.message?.parts[0]?.content?.value ?? '')]
        : [],
    )
    const working = texts.slice(0, -1)
    expect(working.length).toBeGreaterThan(1)
    for (const [place, text] of working.entries())
      expect(text.startsWith(working[place - 1] ?? '')).toBe(true)
    const artifact = events.at(-2)?.payload
    const answer =
      artifact?.$case === 'artifactUpdate' ? artifact.value.artifact?.parts[0]?.content?.value : ''
    expect(answer).toBe(working.at(-1))
  })

  it('A2A-10: leaving a stream does not cancel; another subscribes, first to the task', async () => {
    const client = await clientOf('tokens')
    const sent = message([{ text: 'count' }, { data: { tokens: 40, tokenDelayMs: 20 } }])
    let id = ''
    for await (const { payload } of client.sendMessageStream(asked(sent))) {
      if (payload?.$case === 'task') id = payload.value.id
      if (payload?.$case === 'statusUpdate') break
    }
    const events: StreamResponse[] = []
    for await (const event of client.resubscribeTask({ tenant: '', id })) events.push(event)
    expect(events[0]?.payload?.$case).toBe('task')
    expect(events.length).toBeGreaterThan(2)
    const last = events.at(-1)?.payload
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(await codeOf('SubscribeToTask', { id }, 'tokens')).toBe(-32004)
  })

  it('A2A-12: tasks are listed by context and state, newest first, in pages', async () => {
    const client = await clientOf('echo')
    const contextId = crypto.randomUUID()
    const made: string[] = []
    for (const text of ['a', 'b', 'c'])
      made.unshift((await send(client, message([{ data: { text } }], { contextId }))).id)
    const list = {
      tenant: '',
      contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    }
    const page = await client.listTasks({ ...list, pageSize: 2 })
    expect(page.tasks.map(({ id }) => id)).toEqual(made.slice(0, 2))
    expect([page.totalSize, page.pageSize]).toEqual([3, 2])
    expect(page.tasks[0]?.artifacts).toEqual([])
    const rest = await client.listTasks({ ...list, pageToken: page.nextPageToken, includeArtifacts: true })
    expect([rest.tasks.map(({ id }) => id), rest.nextPageToken]).toEqual([made.slice(2), ''])
    expect(textsOf(rest.tasks[0] as Task)).toMatchObject([{ text: 'a' }])
    const failed = await client.listTasks({ ...list, status: TaskState.TASK_STATE_FAILED })
    expect(failed.totalSize).toBe(0)
    expect(await codeOf('ListTasks', { pageSize: 101 }, 'echo')).toBe(-32602)
  })
})
