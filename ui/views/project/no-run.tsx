import { useSnippetKey } from '../../data/settings/keys.ts'
import { Snippets } from '../../parts/snippets.tsx'
import { Empty } from '../../parts/states.tsx'

/** Shown in a project without any run: how to send the first one. */
export function NoRun({ title = 'No run has arrived yet' }: { title?: string }) {
  return (
    <Empty title={title}>
      <Snippets source={useSnippetKey()} />
    </Empty>
  )
}
