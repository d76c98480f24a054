// A message format of your own. Start Weir with PROCESSORS=./examples/processors/acme-chat.js
//
// Acme's SDK logs { turns: [{ who: 'customer', said: 'Hi' }] } and answers { reply: 'Hello', engine: 'acme-2' }.

const ROLES = new Map([
  ['policy', 'system'],
  ['customer', 'user'],
  ['agent', 'assistant'],
])

/** @type {import('../../src/trace/messages/processor.ts').Processor} */
const acmeChat = {
  name: 'acme-chat',

  /**
   * 0 = another format, 1 = the shape fits, 2 = certain. Look at few keys only, because this runs for every llm
   * TraceRun.
   */
  match(side, value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 0
    if (side === 'inputs') return Array.isArray(value.turns) ? 2 : 0
    return typeof value.reply === 'string' ? 2 : 0
  },

  /** Must never throw, and must never change `value`. Paths of issues are relative to it. */
  normalize(side, value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { messages: [], issues: [] }
    if (side === 'outputs') {
      const reply = typeof value.reply === 'string' ? value.reply : ''
      const said = { messages: [{ role: 'assistant', content: [{ type: 'text', text: reply }] }], issues: [] }
      return typeof value.engine === 'string' ? { ...said, model: value.engine } : said
    }
    const messages = []
    const issues = []
    for (const [i, turn] of (Array.isArray(value.turns) ? value.turns : []).entries()) {
      const role = ROLES.get(turn?.who)
      if (role === undefined) {
        issues.push({
          code: 'unknown_role',
          severity: 'warning',
          path: `turns[${i}].who`,
          message: 'The speaker is not known and is read as user.',
          fix: 'Send one of policy, customer, agent.',
        })
      }
      const text = typeof turn?.said === 'string' ? turn.said : ''
      messages.push({ role: role ?? 'user', content: [{ type: 'text', text }] })
    }
    return { messages, issues }
  },
}

export const processors = [acmeChat]
