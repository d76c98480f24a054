import { expect, it } from 'vitest'
import { rightsOf } from './rights.ts'

const READING = ['threads:read', 'assistants:read']

it('ui §3.8: what a role lacks is refused, naming the permission', () => {
  const refused = (name: string) => `This needs the permission ${name}`
  const [update, create] = [refused('threads:update'), refused('threads:create')]
  const viewer = { permissions: READING, hasToken: false, hasThread: true }
  expect(rightsOf(viewer)).toEqual({ run: update, edit: update, cancel: update, copy: create })
  expect(rightsOf({ ...viewer, hasThread: false }).run).toBe(create)

  const updating = { ...viewer, permissions: [...READING, 'threads:update'] }
  expect(rightsOf(updating)).toEqual({ run: undefined, edit: undefined, cancel: undefined, copy: create })
  expect(rightsOf({ ...updating, hasThread: false }).run).toBe(create)
})

it('ui §3.9: the auth file decides about requests with the token of a user', () => {
  const all = { run: undefined, edit: undefined, cancel: undefined, copy: undefined }
  expect(rightsOf({ permissions: READING, hasToken: true, hasThread: false })).toEqual(all)
})
