import { pairMessages } from '../../../data/compare/message-diff.ts'
import type { DraftBlock, DraftMessage } from '../../../data/playground/draft.ts'
import { WordDiff } from '../../../parts/diff/word-diff.tsx'
import { exactText } from '../../../parts/json/json-text.ts'
import css from '../playground.module.css'

function blockText(block: DraftBlock): string {
  if (block.kind === 'call') return `${block.name} ${block.args}`
  return block.kind === 'media' ? exactText(block.block) : block.text
}

function textsOf(messages: readonly DraftMessage[]) {
  return messages.map(({ role, blocks }) => ({ role, text: blocks.map(blockText).join('\n') }))
}

/** What one prompt has in place of the common one: removed words struck through, added ones underlined. */
export function PromptDiff({
  common,
  own,
}: {
  common: readonly DraftMessage[]
  own: readonly DraftMessage[]
}) {
  const changed = pairMessages(textsOf(common), textsOf(own)).filter(({ isEqual }) => !isEqual)
  if (changed.length === 0) return <p className={css['note']}>Both prompts are equal.</p>
  return (
    <ul className={css['differences']}>
      {changed.map(({ a, b }, place) => (
        <li key={place}>
          <b>{(a ?? b)?.role}</b>
          <WordDiff a={a?.text ?? ''} b={b?.text ?? ''} side="both" />
        </li>
      ))}
    </ul>
  )
}
