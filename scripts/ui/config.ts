import { fileURLToPath } from 'node:url'
import type { InlineConfig } from 'vite'

/** The folder of the web interface. */
export const UI = fileURLToPath(new URL('../../ui/', import.meta.url))

/** How Vite reads `ui`. All assets are files, since the content security policy allows no data: URLs. */
export function uiConfig(): InlineConfig {
  return {
    root: UI,
    base: '/app/',
    configFile: false,
    envDir: false,
    logLevel: 'error',
    clearScreen: false,
    css: { modules: { generateScopedName: '[name]_[local]_[hash:base64:4]' } },
    build: {
      target: 'es2023',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  }
}
