import { type ButtonHTMLAttributes, type ComponentProps, type ReactNode, useEffect, useState } from 'react'
import { Link } from '../router/link.tsx'
import css from './controls.module.css'
import { copyText } from './copy-text.ts'
import { Icon, type IconName } from './icon.tsx'

type Look = 'usual' | 'primary' | 'plain'

function looks(look: Look, more: (string | undefined)[] = []): string {
  const own = { usual: undefined, primary: css['primary'], plain: css['plain'] }[look]
  return [css['button'], own, ...more].filter(Boolean).join(' ')
}

export function Button({
  look = 'usual',
  icon,
  children,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: Look; icon?: IconName }) {
  return (
    <button type="button" className={looks(look)} {...rest}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** A button with an icon only; `label` is for screen readers, and shown on hover. */
export function IconButton({
  icon,
  label,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { icon: IconName; label: string }) {
  return (
    <button
      type="button"
      className={looks('plain', [css['icon']])}
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  )
}

/** A field of one line. Its label is `aria-label` or a label around it. */
export function Field(props: ComponentProps<'input'>) {
  return <input autoComplete="off" spellCheck={false} className={css['field']} {...props} />
}

/** A select of a few values. */
export function Select<W extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string
  value: W
  options: readonly (readonly [W, string])[]
  onChange(value: W): void
}) {
  return (
    <select
      aria-label={label}
      className={css['field']}
      value={value}
      onChange={(event) => onChange(event.target.value as W)}
    >
      {options.map(([word, text]) => (
        <option key={word} value={word}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** Links to the views of one page. */
export function Tabs({
  label,
  tabs,
}: {
  label: string
  tabs: readonly { to: string; text: string; isCurrent: boolean }[]
}) {
  return (
    <nav className={css['tabs']} aria-label={label}>
      {tabs.map(({ to, text, isCurrent }) => (
        <Link key={text} to={to} className={css['tab']} aria-current={isCurrent ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  )
}

/** A short text with a border, such as a tag. */
export function Chip({ children, title }: { children: ReactNode; title?: string }) {
  return (
    <span className={css['chip']} title={title}>
      {children}
    </span>
  )
}

export function Key({ children }: { children: ReactNode }) {
  return <kbd className={css['key']}>{children}</kbd>
}

const SAID_MS = 1500

/** A button that copies a text, and shows whether the browser allowed it. */
export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [isCopied, setCopied] = useState<boolean>()
  useEffect(() => {
    if (isCopied === undefined) return undefined
    const timer = setTimeout(() => setCopied(undefined), SAID_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = (): void => void copyText(typeof text === 'string' ? text : text()).then(setCopied)
  const said = isCopied === true ? 'Copied' : 'The browser does not allow it'
  return (
    <Button look="plain" icon={isCopied === true ? 'success' : 'copy'} onClick={copy}>
      <span aria-live="polite">{isCopied === undefined ? label : said}</span>
    </Button>
  )
}
