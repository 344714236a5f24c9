/** Returns the name under which a key's fees are counted. */
export function feeMeter(key: string): string {
	return `fees/${key}`;
}

/** Returns the name under which the number of a key's signatures is counted. */
export function signatureMeter(key: string): string {
	return `signatures/${key}`;
}

/** Returns the name under which a token that leaves a chain's vault is counted, by all keys together. */
export function outflowMeter(chainId: number, token: string): string {
	return `outflow/${chainId}/${token.startsWith("0x") ? token.toLowerCase() : token}`;
}

/** Returns the name under which a token that a treasurer's key moves out of its vault is counted. */
export function moveMeter(key: string, token: string): string {
	return `moves/${key}/${token.toLowerCase()}`;
}

/** Returns the name for the part of a meter that no deposit proves. */
export function unprovenMeter(meter: string): string {
	return `unproven/${meter}`;
}

/** Returns whether a meter counts what no deposit proves. */
export function isUnprovenMeter(meter: string): boolean {
	return meter.startsWith("unproven/");
}

/**
 * Returns whether a meter counts what one key signs or spends. At its cap the key signs nothing. At the other caps it
 * still signs what takes nothing of that token.
 */
export function isKeyMeter(meter: string): boolean {
	return meter.startsWith("fees/") || meter.startsWith("signatures/");
}
