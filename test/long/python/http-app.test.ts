import { asgiAppTests } from '../../contract/graphs/asgi-app.ts'

asgiAppTests('every case')
