/** Base64 with functions that every runtime has, because the adapters for vendors' wallets import no package. */
export const base64 = {
	encode: (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes)),
	decode: (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)),
};
