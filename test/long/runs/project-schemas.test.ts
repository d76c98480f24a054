import { describe, expect, it, vi } from 'vitest'
import { useDeployment } from '../../conformance/deployments/use-deployment.ts'
import { withoutPython } from '../../support/python.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const TOPIC = { type: 'string' }

/**
 * The same project in two languages. For each: the schema of `mood`, and the name of the schema that has the settings.
 */
const PROJECTS = [
  {
    folder: 'projects/memory-agent',
    without: '',
    mood: { description: 'The last known mood of the user.', enum: ['bad', 'good'] },
    settings: 'config_schema',
  },
  {
    folder: 'python-projects/memory-agent',
    without: withoutPython(),
    mood: { enum: ['good', 'bad'] },
    settings: 'context_schema',
  },
] as const

for (const { folder, without, mood, settings } of PROJECTS)
  describe.skipIf(without !== '')(`an agent of many files, ${folder}${without}`, () => {
    const setup = useDeployment(folder)

    it('has schemas of itself and its subgraphs from its types', async () => {
      const { client } = setup()
      const schemas = await client.assistants.getSchemas('assistant')
      const sources = { type: 'array' }
      expect(schemas.input_schema).toMatchObject({ properties: { topic: TOPIC, mood, sources } })
      expect(JSON.stringify(schemas.input_schema)).toMatch(/between 0 and 1\./i)
      expect(schemas[settings]).toMatchObject({ properties: { user_id: TOPIC } })

      const subgraphs = await client.assistants.getSubgraphs('assistant')
      const research = { properties: { topic: TOPIC, sources } }
      expect(subgraphs).toMatchObject({ research: { input_schema: research, state: research } })
      const { description } = await client.assistants.get('research')
      expect(description).toBe('Finds what is known about a topic.')
    })
  })
