// Compares tests/lists/url/cases.tsv with Node's own URL parser, a second implementation of the URL
// standard: node tests/lists/check_url_node.mjs. Fails on any difference that the file does not explain.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const encoded = (text) =>
    [...Buffer.from(text)].map((b) => '%' + b.toString(16).toUpperCase().padStart(2, '0')).join('');

// The bytes that a column of the file stands for.
function unescapeBytes(text) {
    const byte = (_, hex) => String.fromCharCode(parseInt(hex, 16));
    return Buffer.from(text.replace(/\\x([0-9A-Fa-f]{2})/g, byte), 'latin1');
}

// Returns the URL as Node writes it, without the fragment; "-" if Node does not accept it.
function nodeForm(bytes) {
    try {
        return new URL(bytes.toString('utf8')).href.split('#')[0];
    } catch (error) {
        if (error.code !== 'ERR_INVALID_URL') throw error;
        return '-';
    }
}

// RFC 3986's normal form of percent-encoding, written from the text of src/lists/url_text.c.
function normalise(text, allowed) {
    let out = '';
    for (let i = 0; i < text.length; ) {
        const triplet = /^%([0-9A-Fa-f]{2})/.exec(text.slice(i, i + 3));
        if (triplet) {
            const byte = String.fromCharCode(parseInt(triplet[1], 16));
            const completes = /[0-9A-Fa-f]/.test(byte) && /%[0-9A-Fa-f]?$/.test(out);
            out += /[A-Za-z0-9._~-]/.test(byte) && !completes ? byte : triplet[0].toUpperCase();
            i += 3;
        } else {
            const c = text[i++];
            out += c === '%' || allowed.test(c) ? c : encoded(c);
        }
    }
    return out;
}

// Applies the steps P and R to a URL as Node writes it.
function normalForm(href) {
    const [, scheme, authority = '', path, query = ''] =
        /^([^:]+:)(\/\/[^/?]*)?([^?]*)(\?.*)?$/s.exec(href);
    const special = /^(https?|wss?|ftp|file):$/.test(scheme);
    const at = authority.lastIndexOf('@') + 1;
    const user = normalise(authority.slice(0, at), /[A-Za-z0-9._~!$&'()*+,:@/-]/);
    let host = authority.slice(at);
    if (!special && !host.includes('[')) host = normalise(host, /[A-Za-z0-9._~!$&'()*+,;=:/-]/);
    const plain = /[A-Za-z0-9._~!$&'()*+,;=:@/?-]/;
    return scheme + user + host + normalise(path, plain) + normalise(query, plain);
}

// Returns whether the mark of a line explains its difference. cases.tsv describes the marks.
function explained(mark, bytes, canonical) {
    const node = nodeForm(bytes);
    switch (mark) {
        case '=':
            return node === canonical;
        case '!P':
        case '!R':
        case '!PR':
            return node !== '-' && normalForm(node) === canonical;
        case '!X':
            return node === '-' && canonical !== '-';
        case '!I':
            return node !== '-' && canonical === '-';
        case '!U':
            return !Buffer.from(bytes.toString('utf8')).equals(bytes) && node !== canonical;
        case '!N':
            return true;
        default:
            return false;
    }
}

function main() {
    const file = new URL('url/cases.tsv', import.meta.url);
    let lines = 0;
    let bad = 0;
    fs.readFileSync(file, 'latin1').split('\n').forEach((line, index) => {
        if (line === '' || line.startsWith('#')) return;
        const [input, canonical, mark] = line.split('\t');
        const bytes = unescapeBytes(input);
        lines++;
        if (explained(mark, bytes, unescapeBytes(canonical).toString('latin1'))) return;
        bad++;
        console.log(`cases.tsv:${index + 1}: ${input}`);
        console.log(`    the file: ${canonical} ${mark}`);
        console.log(`    Node ${process.version}: ${nodeForm(bytes)}`);
    });
    console.log(`${lines} URLs, ${bad} unexplained differences from Node`);
    process.exitCode = bad > 0 || lines === 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
