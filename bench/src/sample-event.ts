/** Conversations that the events are spread over. */
export const CONVERSATIONS = 1_000;

const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(21);

/** One turn's end, about 1.1 KB as JSON. */
export function sampleEvent(index: number): { stream: string; type: string; data: Record<string, unknown> } {
  const conversation = index % CONVERSATIONS;
  return {
    stream: `conversation:thread:bench-${conversation}`,
    type: 'turn_ended',
    data: {
      bridgeId: `bridge-${conversation}`,
      provider: 'codex',
      sessionKey: `bench-${conversation}:codex`,
      turnId: `turn-${index}`,
      text: `${TEXT}${index}`,
      stopReason: 'end_turn',
    },
  };
}
