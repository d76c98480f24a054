/** The name of the most specific handler of an event; undefined when none is registered. */
export function handlerOf(names: ReadonlySet<string>, event: string): string | undefined {
  const [resource = '', action = ''] = event.split(':')
  return [event, resource, `*:${action}`, '*'].find((name) => names.has(name))
}
