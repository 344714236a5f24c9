/** The program's exit codes. Their texts are in `--help` and in docs/cli.md. */
export const exitCode = {
	done: 0,
	unexpected: 1,
	usage: 2,
	refused: 3,
	notSettled: 4,
	mayExecute: 5,
	unpaid: 6,
} as const;
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

export const exitCodeHelp = `Exit codes:
  0  done: the swap is settled, or the question is answered
  1  unexpected: a bug or a failing machine; nothing was signed by this call
  2  wrong input: an option, the configuration, a key, an id of another intent
  3  refused: nothing happened, and nothing will. Do what "next" says, try again
  4  the swap ended refunded or failed: the whole input is in the wallet
  5  the swap may still execute: interrupted, pending or unknown. Follow or
     resume it; do not start another one for the same purpose
  6  a refund on Solana needs lamports that no key here has: the error names
     the amount and the address`;
