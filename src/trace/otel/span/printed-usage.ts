import { type JsonObject, isObject } from '../../../schema/json.ts'
import { readUsage } from '../../tokens/usage/read-usage.ts'
import { parseLiteral } from './python-literal.ts'
import { type SpanView, asNumber } from './view.ts'

/** Maximum length of printed counts in characters. */
const MOST_TEXT = 4096
/** Texts that precede the counts in an answer printed by Python: a field of an object, or an entry of a dict. */
const MARKS = ['usage=', "'usage': "] as const

/**
 * The counts in an answer that a span of OpenInference contains as printed by Python: `ChatCompletion(…,
 * usage=CompletionUsage(prompt_tokens=3, …))` or `ChatMessage(…, _meta={'usage': {…}})`. They have details that
 * the span's attributes lack. Undefined if they differ from those of the attributes, since the model itself may have
 * written the text.
 */
export function printedUsage(view: SpanView): JsonObject | undefined {
  const [input, output] = [view.number('llm.token_count.prompt'), view.number('llm.token_count.completion')]
  const answer = view.text('output.value')
  if (input === undefined || output === undefined || answer === undefined) return undefined
  const printed = readPrinted(answer)
  const usage = isObject(printed) ? readUsage(printed, 'output.value').value : undefined
  const isSame = asNumber(usage?.['input_tokens']) === input && asNumber(usage?.['output_tokens']) === output
  return isSame ? usage : undefined
}

function readPrinted(answer: string) {
  // The last match is used, because the counts are after the model's text.
  const [place, mark] = MARKS.map((text) => [answer.lastIndexOf(text), text] as const).reduce((a, b) =>
    b[0] > a[0] ? b : a,
  )
  if (place < 0) return undefined
  const start = place + mark.length
  const whole = balanced(answer.slice(start, start + MOST_TEXT))
  if (whole === undefined) return undefined
  return parseLiteral(
    whole
      .replace(/[A-Za-z_]\w{0,99}\(/g, '{')
      .replaceAll(')', '}')
      .replace(/([A-Za-z_]\w{0,99})=/g, "'$1': "),
  )
}

/** The text up to the bracket that closes its first bracket. */
function balanced(text: string): string | undefined {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!
    if (letter === '(' || letter === '{') depth++
    else if ((letter === ')' || letter === '}') && --depth === 0) return text.slice(0, i + 1)
    else if (depth < 0) return undefined
  }
  return undefined
}
