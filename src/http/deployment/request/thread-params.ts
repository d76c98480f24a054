import { wordsParameter, uuidParameter } from '../../api/parameters.ts'

export const THREAD_PARAMS = { thread_id: uuidParameter('Id of the thread.') }

export const RUN_PARAMS = { ...THREAD_PARAMS, run_id: uuidParameter('Id of the run.') }

/** The fields of each record to return. */
export const SELECT_PARAMETER = wordsParameter('Only these fields; all if absent.')
