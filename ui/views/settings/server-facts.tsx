import type { ReactNode } from 'react'
import { useSession } from '../../data/session.ts'
import { useServerInfo } from '../../data/settings/server.ts'
import { CopyButton } from '../../parts/controls.tsx'
import { bytesText, countText } from '../../parts/format/numbers.ts'
import { Loaded } from '../../parts/states.tsx'
import { SettingsSection } from './section.tsx'
import css from './settings.module.css'

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** The address, version and limits of the server, and who is signed in. */
export function ServerFacts() {
  const info = useServerInfo()
  const { data: session } = useSession()
  return (
    <>
      <SettingsSection title="This server" about="What clients connect to, and who you are to it.">
        <dl className={css['facts']}>
          <Fact name="Address">
            <code>{location.origin}</code> <CopyButton text={location.origin} />
          </Fact>
          <Fact name="Version">{session?.version}</Fact>
          <Fact name="Organization">{session?.organization.display_name}</Fact>
          <Fact name="You">
            {session?.user?.email ?? 'a service key'},{' '}
            {session?.api_key && (
              <>
                <code>{session.api_key.short_key}</code>,{' '}
              </>
            )}
            {session?.role}
          </Fact>
          <Fact name="Sign-in">{session?.auth === 'off' ? 'off (AUTH=off)' : 'needed'}</Fact>
          <Fact name="Usage counts">{session?.features.usage === true ? 'on' : 'off'}</Fact>
          <Fact name="Deployments">{session?.features.deployments.join(', ') || 'none'}</Fact>
          <Fact name="API">
            <a href="/docs">Documentation</a> · <a href="/openapi.json">OpenAPI</a>
          </Fact>
        </dl>
      </SettingsSection>
      <SettingsSection title="Limits" about="Of requests; they are set in the configuration of the server.">
        <Loaded from={info}>
          {({ weir: { limits } }) => (
            <dl className={css['facts']}>
              <Fact name="Ingest body, decompressed">{bytesText(limits.max_body_bytes)}</Fact>
              <Fact name="One part or field">{bytesText(limits.max_part_bytes)}</Fact>
              <Fact name="Parts or operations">{countText(limits.max_parts)}</Fact>
              <Fact name="Any other body">{bytesText(limits.max_json_body_bytes)}</Fact>
              <Fact name="Bodies in memory">{bytesText(limits.max_inflight_bytes)}</Fact>
              <Fact name="Slowest body">
                {bytesText(limits.min_body_bytes_per_second)}/s over {limits.body_window_ms / 1000} s
              </Fact>
            </dl>
          )}
        </Loaded>
      </SettingsSection>
    </>
  )
}
