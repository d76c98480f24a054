import { asgiAppTests } from '../asgi-app.ts'

asgiAppTests('main case')
