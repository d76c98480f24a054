import { expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { NO_COMMANDS } from '../deploy/model.ts'
import { createDeploymentStore } from '../storage/sql/deployments/deployment-store.ts'
import { migrate } from '../storage/sql/driver/migrate.ts'
import { openSqlite } from '../storage/sql/driver/sqlite.ts'
import { type DeploymentsParts, openDeployments } from './open-deployments.ts'
import { testClock } from '../../test/support/faults/test-clock.ts'

it('P-1: the deployment of GRAPHS does not take the path of one that was deployed', async () => {
  const database = openSqlite(':memory:')
  await migrate(database)
  await createDeploymentStore(database, testClock()).create({
    id: 'd',
    organization_id: 'o',
    workspace_id: 'w',
    name: 'bot',
    type: 'dev',
    secrets: [],
    commands: NO_COMMANDS,
  })
  const opening = (name: string) =>
    openDeployments({
      database,
      stops: new AsyncDisposableStack(),
      config: readConfig({ DEPLOYMENT_NAME: name }),
    } as unknown as DeploymentsParts)
  await expect(opening('bot')).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringMatching(/"bot".*DEPLOYMENT_NAME.*without GRAPHS/),
  })
  await database.close()
})
