import { describe, expect, it } from 'vitest'
import { assertDeploymentName } from './deployment-name.ts'
import { readDeploymentType, TYPE_LIMITS } from './deployment-type.ts'

const INVALID = expect.objectContaining({ code: 'invalid_request' })

describe('names and types of deployments', () => {
  it('P-1: a name is part of a path', () => {
    for (const name of ['a', '1', 'my-bot', 'a'.repeat(63)])
      expect(() => assertDeploymentName(name)).not.toThrow()
    for (const name of ['', '-a', 'a-', 'A', 'a_b', 'a/b', '..', 'ä', 'a\n', 'a'.repeat(64)])
      expect(() => assertDeploymentName(name), name).toThrow(INVALID)
  })

  it('P-3: the types of other clients mean dev or prod', () => {
    const types = ['dev', 'dev_zero', 'dev_free', 'serverless', 'prod', 'dedicated'].map(readDeploymentType)
    expect(types).toEqual(['dev', 'dev', 'dev', 'dev', 'prod', 'prod'])
    expect([undefined, null].map(readDeploymentType)).toEqual([undefined, undefined])
    for (const type of ['test', '', 1, 'toString']) expect(() => readDeploymentType(type)).toThrow(INVALID)
    expect(TYPE_LIMITS.prod.hosts).toBeGreaterThan(TYPE_LIMITS.dev.hosts)
  })
})
