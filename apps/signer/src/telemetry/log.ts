import { type Logger, pino } from "pino";

export type Log = Logger;

/** Creates a log of JSON lines. Fields that could hold a secret are redacted. */
export function createLog({ level }: { level: string }): Log {
	const secrets = ["signature", "privateKey", "raw", "authorization", "signedTransaction"];
	return pino({
		level,
		base: { process: "signer" },
		serializers: { err: describeError },
		redact: { paths: secrets.flatMap((name) => [name, `*.${name}`]), censor: "[redacted]" },
	});
}

/**
 * Returns an error's names, messages and first stack. viem's messages contain the endpoint, which may contain a key, so
 * only the short message of its errors is kept.
 */
export function describeError(error: unknown): Record<string, unknown> {
	if (!(error instanceof Error)) return { message: String(error) };
	const { shortMessage, code } = error as { shortMessage?: string; code?: unknown };
	return {
		name: error.name,
		message: shortMessage ?? error.message,
		...(code === undefined ? {} : { code }),
		...(shortMessage === undefined ? { stack: error.stack } : {}),
		...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
	};
}
