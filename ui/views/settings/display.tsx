import { type PreferenceName, usePreference, writePreference } from '../../parts/preferences.ts'
import { SettingsSection } from './section.tsx'
import css from './settings.module.css'

interface Choice {
  name: PreferenceName
  title: string
  words: readonly (readonly [word: string, text: string])[]
}

const CHOICES = [
  {
    name: 'theme',
    title: 'Theme',
    words: [
      ['system', 'As the system'],
      ['light', 'Light'],
      ['dark', 'Dark'],
    ],
  },
  {
    name: 'density',
    title: 'Rows',
    words: [
      ['usual', 'Usual, 28 pixels'],
      ['dense', 'Dense, 24 pixels'],
    ],
  },
  {
    name: 'zone',
    title: 'Times',
    words: [
      ['local', `In the zone of this browser, ${new Intl.DateTimeFormat().resolvedOptions().timeZone}`],
      ['utc', 'In UTC'],
    ],
  },
  {
    name: 'text',
    title: 'Messages',
    words: [
      ['markdown', 'Drawn as Markdown'],
      ['plain', 'As plain text'],
    ],
  },
  {
    name: 'letters',
    title: 'Single letters',
    words: [
      ['on', 'Are keys'],
      ['off', 'Do nothing'],
    ],
  },
] as const satisfies readonly Choice[]

function Preference({ name, title, words }: (typeof CHOICES)[number]) {
  const chosen: string = usePreference(name)
  return (
    <fieldset className={css['choice']}>
      <legend>{title}</legend>
      {words.map(([word, text]) => (
        <label key={word}>
          <input
            type="radio"
            name={name}
            value={word}
            checked={word === chosen}
            onChange={() => writePreference(name, word as never)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}

export function Display() {
  return (
    <SettingsSection title="Display" about="How this browser shows the interface. Nobody else is affected.">
      <div className={css['choices']}>
        {CHOICES.map((choice) => (
          <Preference key={choice.name} {...choice} />
        ))}
      </div>
    </SettingsSection>
  )
}
