import type { ReactNode } from 'react'
import { Icon } from '../../parts/icon.tsx'
import css from './settings.module.css'

/** A part of the settings: its name, its purpose and its button. */
export function SettingsSection({
  title,
  about,
  action,
  children,
}: {
  title: string
  about: ReactNode
  action?: ReactNode
  children: ReactNode
}) {
  return (
    <section className={css['section']}>
      <div className={css['head']}>
        <div>
          <h2>{title}</h2>
          <p className={css['note']}>{about}</p>
        </div>
        {action}
      </div>
      {children}
    </section>
  )
}

/** Shown in place of a section that the caller's role does not permit. */
export function Locked({ reason }: { reason: string }) {
  return (
    <p className={css['locked']}>
      <Icon name="warning" color="var(--warn)" />
      <span>{reason}. Your role does not have it; an admin can give you another role.</span>
    </p>
  )
}
