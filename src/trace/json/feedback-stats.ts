/** Feedback of one key. */
export interface FeedbackFigures {
  /** Number of records. */
  n: number
  /** Statistics of the scores; null if there are none. */
  avg: number | null
  min: number | null
  max: number | null
  stdev: number | null
  /** Number of records of failed evaluations. */
  errors: number
  /** Number of records with each text value; the 50 most frequent. */
  values: Record<string, number>
  /** Some of the comments, the newest first. */
  comments: string[]
  /** Types of the sources. */
  sources: string[]
}

export type FeedbackStats = Record<string, FeedbackFigures>

/** The figures in the form of a response. */
export function feedbackStatsJson(stats: FeedbackStats) {
  return Object.fromEntries(
    Object.entries(stats).map(([key, one]) => [key, { ...one, contains_thread_feedback: false }]),
  )
}
