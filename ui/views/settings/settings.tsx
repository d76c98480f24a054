import { type ReactNode, useRef } from 'react'
import { useSession } from '../../data/session.ts'
import { AgentLines } from '../../parts/agents/agent-lines.tsx'
import { Tabs } from '../../parts/controls.tsx'
import { useRowKeys } from '../../parts/keyboard/row-keys.ts'
import { useParam } from '../../router/location.ts'
import { wordParam } from '../../router/params.ts'
import { Alerts } from './alerts.tsx'
import { Audit } from './audit/audit.tsx'
import { Display } from './display.tsx'
import { Keys } from './keys/keys.tsx'
import { Members } from './members/members.tsx'
import { Retention } from './retention.tsx'
import { Roles } from './roles.tsx'
import { Secrets } from './secrets.tsx'
import { SettingsSection } from './section.tsx'
import { Sessions } from './sessions.tsx'
import { ServerFacts } from './server-facts.tsx'
import css from './settings.module.css'
import { SetUp } from './set-up.tsx'
import { Workspaces } from './workspaces.tsx'

const VIEWS = [
  'keys',
  'workspaces',
  'members',
  'sessions',
  'roles',
  'secrets',
  'agents',
  'alerts',
  'retention',
  'setup',
  'audit',
  'display',
  'server',
] as const
type View = (typeof VIEWS)[number]
const VIEW = wordParam('view', VIEWS)

/** The lines with which coding agents read traces (rule TRC-6). */
function CodingAgents() {
  const { data: session } = useSession()
  return (
    <SettingsSection
      title="Coding agents"
      about="Claude Code, Cursor and others can read your traces over MCP: find what failed, say why a cost is missing, compare runs. They cannot change anything."
    >
      <AgentLines name="weir" url={`${location.origin}/mcp`} isOpen={session?.auth === 'off'} />
    </SettingsSection>
  )
}

const SHOWN: Readonly<Record<View, readonly [name: string, content: () => ReactNode]>> = {
  keys: ['API keys', () => <Keys />],
  workspaces: ['Workspaces', () => <Workspaces />],
  members: ['Members', () => <Members />],
  sessions: ['Sessions', () => <Sessions />],
  roles: ['Roles', () => <Roles />],
  secrets: ['Secrets', () => <Secrets />],
  agents: ['Coding agents', () => <CodingAgents />],
  alerts: ['Alerts', () => <Alerts />],
  retention: ['Retention', () => <Retention />],
  setup: ['Set-up', () => <SetUp />],
  audit: ['Audit log', () => <Audit />],
  display: ['Display', () => <Display />],
  server: ['Server', () => <ServerFacts />],
}

/** API keys, workspaces, members, sessions, roles, secrets, coding agents, alerts, retention, the set-up file, the audit log, the display of this browser, and facts about the server. */
export function Settings() {
  const view = useParam(VIEW)
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  const tabs = VIEWS.map((name) => ({
    to: name === VIEWS[0] ? '/settings' : `/settings?view=${name}`,
    text: SHOWN[name][0],
    isCurrent: name === view,
  }))
  return (
    <div ref={page} className={css['page']}>
      <h1>Settings</h1>
      <div className={css['tabs']}>
        <Tabs label="Settings" tabs={tabs} />
      </div>
      {SHOWN[view][1]()}
    </div>
  )
}
