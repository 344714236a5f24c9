/** The token that a process uses. */
export type TokenPath = { module: string; token: string; pinFile: string };

export type Curve = "secp256k1" | "ed25519";

/** A request to the process that has the device's library. */
export type Request = {
	/** The request's number, which its answer repeats. */
	number: number;
	label: string;
	objectId?: Uint8Array | undefined;
	curve: Curve;
	/** The bytes to sign. Without them, the public key is requested. */
	bytes?: Uint8Array | undefined;
};

export type Answer =
	| { kind: "ready" }
	| { kind: "done"; number: number; bytes: Uint8Array }
	/** `isMistake`: an operator must act before the same request can succeed. */
	| { kind: "failed"; number: number; problem: string; isMistake: boolean }
	/** The library, the token or the PIN cannot be used at all. */
	| { kind: "broken"; problem: string; isWrongPin: boolean };
