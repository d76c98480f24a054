import { expect, it } from 'vitest'
import { browserCommand } from './open-browser.ts'

it('names the program of each system that opens a link', () => {
  const url = 'http://127.0.0.1:1984/app/#ticket=T'
  expect(browserCommand('linux', url)).toEqual(['xdg-open', [url]])
  expect(browserCommand('darwin', url)).toEqual(['open', [url]])
  expect(browserCommand('win32', url)).toEqual(['cmd', ['/c', 'start', '""', url]])
})
