import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { ConfigError } from "../../config/config-error.ts";
import { type KeyName, SignerError } from "../../signer-error.ts";
import type { Surroundings } from "../backend.ts";
import type { Answer, Request, TokenPath } from "./pkcs11-request.ts";

type Waiting = {
	name: KeyName;
	askedAtMs: number;
	resolve: (bytes: Uint8Array) => void;
	reject: (error: Error) => void;
};

/** A token of a device. */
export type Pkcs11Token = {
	ask: (
		name: KeyName,
		request: Omit<Request, "number">,
		options: { signal?: AbortSignal | undefined },
	) => Promise<Uint8Array>;
	close: () => void;
};

/**
 * Returns a token that is used through a separate process, which is started when it is needed. A device that hangs, or
 * a library that crashes, costs that process and not this one.
 */
export function openPkcs11Token(path: TokenPath, surroundings: Surroundings): Pkcs11Token {
	const waiting = new Map<number, Waiting>();
	let child: ChildProcess | undefined;
	let lastNumber = 0;
	let answeredAtMs = 0;
	/** Set permanently once the PIN was wrong, because each further try brings the token closer to being locked. */
	let wrongPin: string | undefined;

	/** Keeps this process running while it waits for an answer, and only then. */
	function stayWhileWaiting(): void {
		if (waiting.size > 0) {
			child?.ref();
			child?.channel?.ref();
		} else {
			child?.unref();
			child?.channel?.unref();
		}
	}

	function failAll(problem: string): void {
		for (const { name, reject } of waiting.values()) {
			reject(wrongPin ? mistake(name, wrongPin) : new SignerError(name, problem, { isRetryable: true }));
		}
		waiting.clear();
	}

	function start(): ChildProcess {
		const started = fork(join(import.meta.dirname, "pkcs11-process.ts"), [JSON.stringify(path)], {
			serialization: "advanced",
			execArgv: [],
			env: withoutSecrets(surroundings),
			stdio: ["ignore", "ignore", "inherit", "ipc"],
		});
		let problem = "the process with the device's library ended";
		started.on("message", (answer: Answer) => {
			answeredAtMs = performance.now();
			if (answer.kind === "ready") return;
			if (answer.kind === "broken") {
				problem = answer.problem;
				if (answer.isWrongPin)
					wrongPin = `${path.pinFile} does not contain the token's PIN (${answer.problem})`;
				return;
			}
			const one = waiting.get(answer.number);
			waiting.delete(answer.number);
			stayWhileWaiting();
			if (answer.kind === "done") one?.resolve(answer.bytes);
			else if (answer.isMistake) one?.reject(mistake(one.name, answer.problem));
			else one?.reject(new SignerError(one.name, answer.problem, { isRetryable: true }));
		});
		started.on("error", (error) => {
			problem = error.message;
		});
		const ended = () => {
			if (child !== started) return;
			child = undefined;
			failAll(problem);
		};
		started.once("disconnect", ended);
		started.once("exit", ended);
		return started;
	}

	function giveUp(number: number): void {
		const one = waiting.get(number);
		waiting.delete(number);
		stayWhileWaiting();
		// The device answered nothing for as long as this call waited, so it hangs. Other calls only wait behind slow ones.
		if (one && answeredAtMs < one.askedAtMs && child) {
			child.kill("SIGKILL");
			child = undefined;
			failAll("the device hangs, and its process was ended");
		}
	}

	return {
		ask: (name, request, { signal }) => {
			if (wrongPin) return Promise.reject(mistake(name, wrongPin));
			child ??= start();
			const number = ++lastNumber;
			const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
			waiting.set(number, { name, askedAtMs: performance.now(), resolve, reject });
			stayWhileWaiting();
			child.send({ ...request, number } satisfies Request, (error) => {
				if (!error) return;
				waiting.delete(number);
				reject(new SignerError(name, error.message, { isRetryable: true, cause: error }));
			});
			signal?.addEventListener(
				"abort",
				() => {
					giveUp(number);
					reject(signal.reason as Error);
				},
				{ once: true },
			);
			return promise;
		},
		close: () => {
			child?.kill("SIGKILL");
			child = undefined;
		},
	};
}

function mistake(name: KeyName, problem: string): ConfigError {
	return new ConfigError(name.reference, problem);
}

/** The library needs settings of its vendor, and none of the service's secrets. */
function withoutSecrets({ environment, secretNames }: Surroundings): NodeJS.ProcessEnv {
	const secret = new Set<string>(secretNames.flatMap((name) => [name, `${name}_FILE`]));
	return Object.fromEntries(Object.entries(environment).filter(([name]) => !secret.has(name)));
}
