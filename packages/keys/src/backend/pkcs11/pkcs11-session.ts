import koffi from "koffi";

/** An error of the device's library, with the code of the standard. */
export class Pkcs11Error extends Error {
	override name = "Pkcs11Error";
	readonly code: number;

	constructor(call: string, code: number) {
		super(`${call} failed with ${names[code] ?? `0x${code.toString(16)}`}`);
		this.code = code;
	}
}

const names: Record<number, string> = {
	5: "CKR_GENERAL_ERROR",
	48: "CKR_DEVICE_ERROR",
	50: "CKR_DEVICE_REMOVED",
	99: "CKR_KEY_TYPE_INCONSISTENT",
	104: "CKR_KEY_FUNCTION_NOT_PERMITTED",
	112: "CKR_MECHANISM_INVALID",
	130: "CKR_OBJECT_HANDLE_INVALID",
	160: "CKR_PIN_INCORRECT",
	164: "CKR_PIN_LOCKED",
	179: "CKR_SESSION_HANDLE_INVALID",
	224: "CKR_TOKEN_NOT_PRESENT",
	257: "CKR_USER_NOT_LOGGED_IN",
};
/** Codes after which another try with the same PIN would only bring the token closer to being locked. */
export const wrongPinCodes: readonly number[] = [0xa0, 0xa1, 0xa2, 0xa4];
const alreadyLoggedIn = 0x100;

export const mechanisms = { ecdsa: 0x1041, eddsa: 0x1057 } as const;
export const classes = { publicKey: 2, privateKey: 3 } as const;
export const attributes = { class: 0, label: 3, id: 0x102, extractable: 0x162, ecPoint: 0x181 } as const;

/** Places of the functions in the list that every library returns, in the order of the standard. */
const places = {
	C_Initialize: 0,
	C_GetSlotList: 4,
	C_GetTokenInfo: 6,
	C_OpenSession: 12,
	C_Login: 18,
	C_GetAttributeValue: 24,
	C_FindObjectsInit: 26,
	C_FindObjects: 27,
	C_FindObjectsFinal: 28,
	C_SignInit: 42,
	C_Sign: 43,
} as const;
type Call = keyof typeof places;

const attributeType = koffi.struct("CK_ATTRIBUTE", {
	type: "unsigned long",
	pValue: "void *",
	ulValueLen: "unsigned long",
});
const mechanismType = koffi.struct("CK_MECHANISM", {
	mechanism: "unsigned long",
	pParameter: "void *",
	ulParameterLen: "unsigned long",
});
const attributePointer = koffi.pointer(attributeType);

const word = "unsigned long";
const words = koffi.pointer(word);
type TypeSpec = Parameters<typeof koffi.sizeof>[0];
const parameters: Record<Call, TypeSpec[]> = {
	C_Initialize: ["void *"],
	C_GetSlotList: ["uint8_t", "void *", koffi.inout(words)],
	C_GetTokenInfo: [word, "void *"],
	C_OpenSession: [word, word, "void *", "void *", koffi.out(words)],
	C_Login: [word, word, "void *", word],
	C_GetAttributeValue: [word, word, koffi.inout(attributePointer), word],
	C_FindObjectsInit: [word, attributePointer, word],
	C_FindObjects: [word, "void *", word, koffi.out(words)],
	C_FindObjectsFinal: [word],
	C_SignInit: [word, koffi.pointer(mechanismType), word],
	C_Sign: [word, "void *", word, "void *", koffi.inout(words)],
};

const serialSession = 4;
const user = 1;
const tokenInfoBytes = 256;
const tokenLabelBytes = 32;
const wordBytes = koffi.sizeof(word);
const pointerBytes = koffi.sizeof("void *");
/** More than a token's slots or a name's objects. */
const maxHandles = 64;
const maxAttributeBytes = 512;

/** A session with one token of a device, logged in. Its calls block, so it belongs into a separate process. */
export type Pkcs11Session = {
	find: (wanted: Wanted) => number[];
	/** Returns an attribute's bytes; undefined if the object has none. */
	read: (object: number, attribute: number) => Uint8Array | undefined;
	sign: (key: number, mechanism: number, bytes: Uint8Array) => Uint8Array;
};
type Wanted = { class: number; label?: string | undefined; id?: Uint8Array | undefined };

/** Loads the library, finds the token by its label and logs in. */
export function openPkcs11Session({
	module,
	token,
	pin,
}: {
	module: string;
	token: string;
	pin: string;
}): Pkcs11Session {
	const call = loadFunctions(module);
	call("C_Initialize", [null]);
	const slot = slotOf(call, token);
	const opened = [0];
	call("C_OpenSession", [slot, serialSession, null, null, opened]);
	const [session = 0] = opened;
	const pinBytes = Buffer.from(pin);
	call("C_Login", [session, user, pinBytes, pinBytes.length], { tolerated: [alreadyLoggedIn] });
	return {
		find: (wanted) => {
			const template = templateOf(wanted);
			call("C_FindObjectsInit", [session, template, template.length]);
			const handles = Buffer.alloc(maxHandles * wordBytes);
			const count = [0];
			call("C_FindObjects", [session, handles, maxHandles, count]);
			call("C_FindObjectsFinal", [session]);
			return readWords(handles, count[0] ?? 0);
		},
		read: (object, type) => {
			const value = Buffer.alloc(maxAttributeBytes);
			const template = [{ type, pValue: value, ulValueLen: value.length }];
			try {
				call("C_GetAttributeValue", [session, object, template, 1]);
			} catch {
				return undefined;
			}
			return new Uint8Array(value.subarray(0, template[0]?.ulValueLen));
		},
		sign: (key, mechanism, bytes) => {
			call("C_SignInit", [session, { mechanism, pParameter: null, ulParameterLen: 0 }, key]);
			const signature = Buffer.alloc(256);
			const length = [signature.length];
			call("C_Sign", [session, Buffer.from(bytes), bytes.length, signature, length]);
			return new Uint8Array(signature.subarray(0, length[0]));
		},
	};
}

type Calling = (name: Call, args: unknown[], options?: { tolerated?: readonly number[] }) => void;

function loadFunctions(module: string): Calling {
	const library = load(module);
	const list = [null];
	const code = library.func("C_GetFunctionList", word, [koffi.out(koffi.pointer("void *"))])(list);
	if (code !== 0) throw new Pkcs11Error("C_GetFunctionList", code);
	const functions = new Map(
		(Object.keys(places) as Call[]).map((name) => {
			// The list begins with a version, which takes the space of a pointer.
			const pointer: unknown = koffi.decode(list[0], (1 + places[name]) * pointerBytes, "void *");
			return [name, { pointer, prototype: koffi.proto(word, parameters[name]) }];
		}),
	);
	return (name, args, { tolerated = [] } = {}) => {
		const known = functions.get(name);
		if (!known) throw new Error(`the library has no ${name}`);
		const result: number = koffi.call(known.pointer, known.prototype, ...args);
		if (result !== 0 && !tolerated.includes(result)) throw new Pkcs11Error(name, result);
	};
}

function load(module: string): ReturnType<typeof koffi.load> {
	try {
		return koffi.load(module);
	} catch (cause) {
		throw new Error(`the device's library ${module} cannot be loaded: ${(cause as Error).message}`, {
			cause,
		});
	}
}

function slotOf(call: Calling, token: string): number {
	const slots = Buffer.alloc(maxHandles * wordBytes);
	const count = [maxHandles];
	call("C_GetSlotList", [1, slots, count]);
	const labels = readWords(slots, count[0] ?? 0).map((slot) => {
		const info = Buffer.alloc(tokenInfoBytes);
		call("C_GetTokenInfo", [slot, info]);
		return { slot, label: info.toString("utf8", 0, tokenLabelBytes).trimEnd() };
	});
	const found = labels.filter(({ label }) => label === token);
	if (found.length === 1 && found[0]) return found[0].slot;
	const all = labels.map(({ label }) => label).join(", ");
	throw new Error(
		found.length === 0
			? `the device has no token ${token}, only: ${all || "none"}`
			: `the device has more than one token ${token}`,
	);
}

function templateOf({ class: wantedClass, label, id }: Wanted) {
	const classBytes = Buffer.alloc(wordBytes);
	classBytes.writeBigUInt64LE(BigInt(wantedClass));
	const template: { type: number; pValue: Buffer; ulValueLen: number }[] = [
		{ type: attributes.class, pValue: classBytes, ulValueLen: classBytes.length },
	];
	const add = (type: number, value: Buffer) =>
		template.push({ type, pValue: value, ulValueLen: value.length });
	if (label !== undefined) add(attributes.label, Buffer.from(label));
	if (id !== undefined) add(attributes.id, Buffer.from(id));
	return template;
}

function readWords(bytes: Buffer, count: number): number[] {
	return Array.from({ length: count }, (_, i) => Number(bytes.readBigUInt64LE(i * wordBytes)));
}
