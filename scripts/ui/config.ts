import { fileURLToPath } from 'node:url'
import type { InlineConfig } from 'vite'

/** The folder of the web interface. */
export const UI = fileURLToPath(new URL('../../ui/', import.meta.url))

/**
 * Small files that most pages use. They are bundled into one file, because each separate file costs every first load a
 * request.
 */
const COMMON = new RegExp(
  [
    String.raw`/ui/parts/(?:format/|time\.|money\.|keyboard/(?:keys|row-keys|place-after)\.|row-height\.|json/json-text\.)`,
    String.raw`/ui/data/(?:live/(?:use-live|follow|pause)|runs\.|run-pages\.|llm-facts\.)`,
    String.raw`/ui/api/(?:all-pages|server-events)\.`,
    String.raw`/@tanstack/.*(?:infiniteQuery|InfiniteQuery|queryOptions)`,
  ].join('|'),
)

/**
 * Groups of files that are bundled together: those that every page needs, and those that most pages need. The bundler
 * divides the rest.
 */
const GROUPS = [
  { name: 'core', tags: ['$initial' as const], priority: 2 },
  { name: 'common', test: COMMON, priority: 1, includeDependenciesRecursively: false },
]

/**
 * Vite's configuration for the script of the frames that show UI components. It is one classic script, because a page
 * without an origin cannot load modules.
 */
export function frameConfig(): InlineConfig {
  return {
    root: UI,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      target: 'es2023',
      reportCompressedSize: false,
      lib: {
        entry: `${UI}frame/component-frame.tsx`,
        formats: ['iife'],
        name: 'weirFrame',
        fileName: () => 'component-frame.js',
      },
    },
  }
}

/**
 * Vite's configuration for `ui`. All assets are separate files, because the content security policy allows no data:
 * URLs.
 */
export function uiConfig(): InlineConfig {
  return {
    root: UI,
    base: '/app/',
    configFile: false,
    envDir: false,
    logLevel: 'error',
    clearScreen: false,
    // The SDK's hook imports `langsmith` for tracing. That package would double the size of Studio.
    resolve: { alias: [{ find: /^langsmith(?:\/.*)?$/, replacement: `${UI}no-tracing.ts` }] },
    css: { modules: { generateScopedName: '[name]_[local]_[hash:base64:4]' } },
    build: {
      target: 'es2023',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
    },
  }
}
