export { sessions } from './fold.ts';
export { getMeter, getSession } from './reads.ts';
