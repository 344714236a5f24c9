import { readLine } from "../../read-line.ts";
import type { Answer, Curve, Request, TokenPath } from "./pkcs11-request.ts";
import {
	attributes,
	classes,
	mechanisms,
	openPkcs11Session,
	Pkcs11Error,
	type Pkcs11Session,
	wrongPinCodes,
} from "./pkcs11-session.ts";

// A device's library is third-party code whose calls block and may crash. It runs here, in a separate process that its
// parent can end. The PIN is read here and nowhere else.

/** A mistake of the operator. */
class MistakeError extends Error {}

const tell = (answer: Answer) =>
	new Promise<void>((resolve) => process.send?.(answer, undefined, undefined, () => resolve()));
const handles = new Map<string, number>();
const mechanismOf = { secp256k1: mechanisms.ecdsa, ed25519: mechanisms.eddsa } as const;

let session: Pkcs11Session;
try {
	const { module, token, pinFile } = JSON.parse(process.argv[2] ?? "{}") as TokenPath;
	session = openPkcs11Session({ module, token, pin: readLine(pinFile) });
} catch (error) {
	const isWrongPin = error instanceof Pkcs11Error && wrongPinCodes.includes(error.code);
	await tell({ kind: "broken", problem: (error as Error).message, isWrongPin });
	process.exit(1);
}

process.on("disconnect", () => process.exit(0));
async function answer(request: Request): Promise<void> {
	const { number, curve, bytes: toSign } = request;
	try {
		const key = keyOf(request);
		const bytes = toSign ? session.sign(key, mechanismOf[curve], toSign) : readPublicKey(request);
		await tell({ kind: "done", number, bytes });
	} catch (error) {
		const { message: problem } = error as Error;
		await tell({ kind: "failed", number, problem, isMistake: error instanceof MistakeError });
		// A session that failed may have lost its login. The next request gets a new process.
		if (error instanceof Pkcs11Error) process.disconnect();
	}
}
process.on("message", (request: Request) => void answer(request));
await tell({ kind: "ready" });

/** Returns the private key. It is looked up once. */
function keyOf(request: Request): number {
	const name = `${request.label} ${request.objectId}`;
	const known = handles.get(name);
	if (known !== undefined) return known;
	const key = only(request, classes.privateKey);
	if (session.read(key, attributes.extractable)?.[0] === 1) {
		throw new MistakeError("the key can be exported from its token: make one that cannot");
	}
	handles.set(name, key);
	return key;
}

function readPublicKey(request: Request): Uint8Array {
	const point = session.read(only(request, classes.publicKey), attributes.ecPoint);
	const publicKey = point && pointOf(point, request.curve);
	if (!publicKey) throw new MistakeError(`the key is not one of ${request.curve}`);
	return publicKey;
}

function only({ label, objectId }: Request, wantedClass: number): number {
	const [object, ...others] = session.find({ class: wantedClass, label, id: objectId });
	const kind = wantedClass === classes.privateKey ? "private key" : "public key";
	if (object === undefined) throw new MistakeError(`the token has no ${kind} named ${label}`);
	if (others.length > 0)
		throw new MistakeError(`the token has more than one ${kind} named ${label}: name its id`);
	return object;
}

/** Returns the point without the octet string that the standard puts around it and some devices leave out. */
function pointOf(bytes: Uint8Array, curve: Curve): Uint8Array | undefined {
	const length = { secp256k1: 65, ed25519: 32 }[curve];
	const isWrapped = bytes.length === length + 2 && bytes[0] === 4 && bytes[1] === length;
	const point = isWrapped ? bytes.subarray(2) : bytes;
	return point.length === length ? point : undefined;
}
