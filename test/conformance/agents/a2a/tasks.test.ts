import { TaskState } from '@a2a-js/sdk'
import { describe, expect, it } from 'vitest'
import { message, send, textsOf, useAgents } from './agents.ts'

const { setup, clientOf, codeOf } = useAgents()

describe('tasks of the newest client', () => {
  it('A2A-6: a failed run is a failed task, with name and message', async () => {
    const task = await send(await clientOf('kinds'), message([{ data: { kind: 'fail' } }]))
    expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED)
    expect(task.status?.message?.parts[0]?.content?.value).toBe('QuotaError: no more quota')
  })

  it('A2A-8: a question requires input; a message with the task answers it, once', async () => {
    const client = await clientOf('kinds')
    const task = await send(client, message([{ data: { kind: 'ask' } }]))
    expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
    expect(task.artifacts).toMatchObject([{ name: 'Interrupt' }])
    expect(textsOf(task)).toMatchObject([{ value: { question: 'go on?' } }])
    const done = await send(client, message([{ text: 'yes' }], { taskId: task.id }))
    expect([done.id, done.status?.state]).toEqual([task.id, TaskState.TASK_STATE_COMPLETED])
    expect(textsOf(done)).toMatchObject([{ answer: 'yes' }])
    await expect(send(client, message([{ text: 'yes' }], { taskId: task.id }))).rejects.toThrow()
    const late = message([{ data: { resume: 1 } }])
    const parts = [{ data: { resume: 1 } }]
    const params = { message: { messageId: late.messageId, role: 'ROLE_USER', parts, taskId: task.id } }
    expect(await codeOf('SendMessage', params, 'kinds')).toBe(-32004)
  })

  it('A2A-8: an answer over the run API goes on with the task', async () => {
    const client = await clientOf('kinds')
    const task = await send(client, message([{ data: { kind: 'ask' } }]))
    await setup().client.runs.wait(task.contextId, 'kinds', { command: { resume: { ok: 1 } } })
    const done = await client.getTask({ tenant: '', id: task.id })
    expect(textsOf(done)).toMatchObject([{ answer: { ok: 1 } }])
  })

  it('A2A-9, A2A-6: a client that does not wait gets the task at once, and can cancel it', async () => {
    const client = await clientOf('kinds')
    const task = await send(client, message([{ data: { kind: 'slow' } }]), { returnImmediately: true })
    expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(task.status?.state)
    const ended = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })
    expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    await expect(client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).rejects.toThrow()
  })

  it('A2A-6: cancel ends all runs of a task, also one that works when a later message waits', async () => {
    const client = await clientOf('kinds')
    const task = await send(client, message([{ data: { kind: 'slow' } }]), { returnImmediately: true })
    const more = message([{ data: { kind: 'slow' } }], { taskId: task.id })
    await send(client, more, { returnImmediately: true })
    const ended = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })
    expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    const runs = await setup().client.runs.list(task.contextId)
    expect(runs.map(({ status }) => status)).toEqual(['interrupted', 'interrupted'])
  })

  it('A2A-6: cancel ends a task that waits', async () => {
    const client = await clientOf('kinds')
    const task = await send(client, message([{ data: { kind: 'ask' } }]))
    const ended = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })
    expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], taskId: task.id } }
    expect(await codeOf('SendMessage', params, 'kinds')).toBe(-32004)
    expect(await codeOf('CancelTask', { id: task.id }, 'kinds')).toBe(-32002)
  })
})
