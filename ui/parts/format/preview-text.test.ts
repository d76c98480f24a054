import { describe, expect, it } from 'vitest'
import { previewText } from './preview-text.ts'

describe('the preview of a payload', () => {
  it.each([
    ['How warm is it?', 'How warm is it?'],
    ['{"question":"How \\"warm\\"\\nis it?"}', 'How "warm"\nis it?'],
    ['{"question": "A long text that is cut', 'A long text that is cut'],
    ['{"city":"Paris","days":3}', 'city: Paris, days: 3'],
    ['{"documents":[{"page_content":"Mild."},{"page', 'documents: [{page_content: Mild.}, {page'],
    ['["a", 1.50, null]', 'a, 1.50, null'],
    ['{"a":{"b":[]}}', 'a: {b: []}'],
    ['{"cut":"in an escape \\u26', 'in an escape \\u26'],
    ['{}', ''],
    ['{"only', 'only'],
    ['[draft] a title', '[draft] a title'],
    ['[1] a title', '[1] a title'],
    ['{"text":"**Oslo** is **very cold** now"}', 'Oslo is very cold now'],
    ['# Times\n| Step | Days |\n|---|:-:|\n| Parcel | 3', 'Times\nStep · Days\nParcel · 3'],
    ['a | b', 'a | b'],
    ['2**3**4 and ** a ** b', '2**3**4 and ** a ** b'],
  ])('%s', (preview, shown) => expect(previewText(preview)).toBe(shown))
})
