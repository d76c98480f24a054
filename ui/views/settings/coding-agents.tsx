import { useSession } from '../../data/session.ts'
import { AgentLines } from '../../parts/agents/agent-lines.tsx'
import { SettingsSection } from './section.tsx'

/** The lines with which coding agents read traces (rule TRC-6). */
export function CodingAgents() {
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
