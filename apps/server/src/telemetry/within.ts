import type { Milliseconds } from "@geoswap/protocol";
/** Throws if the promise takes longer than `timeoutMs`. */
export async function within<T>(timeoutMs: Milliseconds, promise: Promise<T>): Promise<T> {
	const { promise: late, reject } = Promise.withResolvers<never>();
	const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
	try {
		return await Promise.race([promise, late]);
	} finally {
		clearTimeout(timer);
	}
}
