import { describe, expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { chooseWorkspaces, type WorkspaceChoice } from './choose-workspaces.ts'

const NAMES = new Map([
  ['a', 'Default'],
  ['b', 'research'],
  ['c', '2'],
])
const names: WorkspaceChoice['names'] = {
  ids: [...NAMES.keys()],
  idOf(name) {
    const found = [...NAMES].find(([id, text]) => text === name || id === name)
    if (found === undefined)
      throw new AppError('invalid_request', { message: `There is no workspace "${name}"` })
    return found[0]
  },
  text: (ids) => (ids ?? []).map((id) => NAMES.get(id) ?? id).join(', '),
}
const nobody = { named: undefined, preferred: undefined, possible: ['a', 'b'], names, ask: undefined }
const choose = (fields: Partial<WorkspaceChoice>) => chooseWorkspaces({ ...nobody, ...fields })

describe('the workspaces of a new key', () => {
  it('are chosen by the server when the key can serve only one, or when they are named', async () => {
    expect(await choose({ possible: ['a'] })).toEqual({
      workspaces: undefined,
      default_workspace_id: undefined,
    })
    expect(await choose({ named: ['b'] })).toEqual({ workspaces: ['b'], default_workspace_id: undefined })
    expect(await choose({ preferred: 'b' })).toEqual({ workspaces: undefined, default_workspace_id: 'b' })
    expect(await choose({ named: ['a', 'b'], preferred: 'b' })).toEqual({
      workspaces: ['a', 'b'],
      default_workspace_id: 'b',
    })
  })

  it('must be named when there are several and no terminal', async () => {
    await expect(choose({})).rejects.toThrow(
      'The key would serve several workspaces (Default, research), and requests that do not name one would be refused. Add --workspace NAME for a key of one workspace, or --default-workspace NAME for a key of all.',
    )
    await expect(choose({ named: ['a', 'b'] })).rejects.toThrow('refused. Add --default-workspace NAME.')
  })

  it('are asked for on a terminal, by number or name', async () => {
    let asked = ''
    const answer = (text: string) => async (question: string) => {
      asked = question
      return text
    }
    expect(await choose({ ask: answer(' 2 ') })).toEqual({
      workspaces: ['b'],
      default_workspace_id: undefined,
    })
    expect(asked).toBe('Which workspace is the key for?\n  1  Default\n  2  research\nNumber or name: ')
    expect(await choose({ ask: answer('Default') })).toMatchObject({ workspaces: ['a'] })
    expect(await choose({ named: ['b', 'a'], ask: answer('1') })).toEqual({
      workspaces: ['b', 'a'],
      default_workspace_id: 'b',
    })
    for (const wrong of ['', '0', '9', '-1', 'nowhere'])
      await expect(choose({ ask: answer(wrong) })).rejects.toThrow('There is no workspace')
  })
})
