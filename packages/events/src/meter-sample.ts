import type { UsageReport } from './schema.ts';

/** Providers that report what they read from a cache beside the input, not within it. */
const CACHED_BESIDE_INPUT: ReadonlySet<string> = new Set(['claude', 'opencode', 'pi']);

/**
 * Whether a provider's input tokens hold its cached ones already. Codex, Grok, Ollama and OpenRouter
 * count so, as does everybody who speaks their dialect; Claude, OpenCode and pi report them apart.
 */
export function inputIncludesCached(provider: string): boolean {
  return !CACHED_BESIDE_INPUT.has(provider);
}

/** Claude accounts for all that fills its context; such a report is right also where it is lower. */
export function isAuthoritative(provider: string, usage: UsageReport): boolean {
  const { contextBreakdown } = usage;
  return provider === 'claude' && contextBreakdown !== undefined && contextBreakdown.text !== 'null';
}

/** What one report says of the context; neither field where it says nothing. */
export interface Sample {
  /** At least 1, and no more than the window. */
  contextTokens?: number;
  /** More than the context can hold: a sum over a turn or a session, which no figure can be made of. */
  implausibleTokens?: number;
}

/**
 * Reads a report. A figure of the context is taken as it is, up to the window; without one it is what went
 * in and came out, or else the total.
 */
export function sampleOf(provider: string, usage: UsageReport, window: number | undefined): Sample {
  const limit = window ?? Number.POSITIVE_INFINITY;
  const stated = tokenCount(usage.contextTokens) ?? 0;
  if (stated > 0) return { contextTokens: Math.min(stated, limit) };

  const prompt = promptTokens(provider, usage);
  const sum =
    prompt > 0 ? prompt + (tokenCount(usage.outputTokens) ?? 0) : (tokenCount(usage.totalTokens) ?? 0);
  if (sum === 0) return {};
  // Output may go a little beyond the window, which is cut; what was sent cannot have been larger than it.
  const judged = prompt > 0 ? prompt : sum;
  return judged > limit ? { implausibleTokens: sum } : { contextTokens: Math.min(sum, limit) };
}

function promptTokens(provider: string, usage: UsageReport): number {
  const input = tokenCount(usage.inputTokens);
  if (input === undefined) return 0;
  return inputIncludesCached(provider) ? input : input + (tokenCount(usage.cachedTokens) ?? 0);
}

/** A whole number of tokens; undefined for what is none. */
export function tokenCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || !(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) return undefined;
  return Math.floor(value);
}

/** The size of a window; one of 0 is not known. */
export function windowCount(value: unknown): number | undefined {
  const tokens = tokenCount(value);
  return tokens === 0 ? undefined : tokens;
}
