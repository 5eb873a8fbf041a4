//! A small corpus whose chunks are written down: a change of any chunker's output shows here.
//!
//! When this fails and the change is meant, raise the number in [`chunker_version`] and accept the
//! new listing. The version is part of it, so one cannot change unseen without the other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;

use super::tests::{Sample, unit, window};
use super::*;

const GUIDE: &str = "# Guide\n\nA short word before anything else is said.\n\n## First steps\n\n\
The first step is small. It has two sentences, and see Fig. 5 for 3.14 of it. \
Then comes a longer one that goes on for a while, so that the paragraph does not fit. \
Is this the end? Not yet!\n\n- one item here\n- another item there\n- a third item, the last\n\n\
```\nlet code = 1;\n\nlet more = 2;\n```\n\n### Crumb\n\nTiny.\n\n### Crumb two\n\nTiny too.\n\n\
## Second steps\n\n**R-1** Never do this.\nExcept on Sundays.\n\n**R-2** Always do that.\n\n\
Naïve “quotes” — and l’été.\n";

const PAGES: &str = "The first page ends here with a hyphen-\nated word. More of it follows now. \
Other words are said. \u{c}The second page goes on and on about it. It ends.\u{c}\u{c}\
Page four is about 今日は天気がいいから散歩しましょう。ทุกสองสัปดาห์ and e\u{301}. 👩‍👩‍👧‍👦🇨🇭 Done.";

const ROWS: &str = "k1> one — registry: a=b; c=d\nk2> two — registry: a=e\n";

fn listing(chunker: &Chunker) -> String {
    let mut out = format!("version {}\n", chunker_version(chunker));
    for (name, source) in [("guide", GUIDE), ("pages", PAGES), ("rows", ROWS)] {
        let sample = Sample::new(source);
        let chunks = sample.chunks(chunker);
        for chunk in &chunks.list {
            writeln!(
                out,
                "{} {} {} {}",
                chunk_id(name, chunk.start_page, chunk.ordinal),
                chunk.hash.to_string().get(..16).unwrap(),
                chunk.token_count,
                chunk.source_type,
            )
            .unwrap();
        }
    }
    out
}

#[test]
fn cacg_version() {
    insta::assert_snapshot!(listing(&Chunker::Cacg(CacgParams {
        target_tokens: 20,
        overlap_tokens: 8,
        max_pages_per_chunk: 2,
    })), @r"
    version 1
    guide:p001:0000 6f7587b42f310e7c 18 cacg
    guide:p001:0001 135488df31edc0d8 12 cacg
    guide:p001:0002 08f9a1b5774d05c3 18 cacg
    guide:p001:0003 85824e2d18c09431 45 cacg
    guide:p001:0004 9d48212f19722fe7 12 cacg
    pages:p001:0000 796fc36f9a821e9c 18 cacg
    pages:p002:0001 f291e946166e630b 20 cacg
    rows:p001:0000 c034c945ae9a0c15 11 cacg
    ");
}

#[test]
fn window_version() {
    insta::assert_snapshot!(listing(&window(24, 8)), @r"
    version 1
    guide:p001:0000 f90a6b0973f90a43 9 window
    guide:p001:0001 35790f70c434bf44 7 window
    guide:p001:0002 37e3229041eb61eb 17 window
    guide:p001:0003 4dcd33a02af94efa 18 window
    guide:p001:0004 f443498a869785fb 22 window
    guide:p001:0005 b8196cd133858d05 19 window
    guide:p001:0006 4a10c7a3c66d975b 14 window
    guide:p001:0007 316c3980ca64359c 6 window
    guide:p001:0008 c5e5b4156e36569e 19 window
    pages:p001:0000 3392f15ebbc89003 19 window
    pages:p002:0001 38f3dcb9805d1300 11 window
    pages:p004:0002 771854d35fd9884c 19 window
    rows:p001:0000 e90f075618388f16 12 window
    ");
}

#[test]
fn unit_version() {
    insta::assert_snapshot!(listing(&unit(24, &[("rule", r"\*\*(R-\d)\*\*")])), @r"
    version 1
    guide:p001:0000 f90a6b0973f90a43 9 section
    guide:p001:0001 9326f77b66b0d4af 19 section
    guide:p001:0002 74689579111690b9 24 section
    guide:p001:0003 bff6caa346da0186 17 section
    guide:p001:0004 03bd1a40e1a4b080 2 section
    guide:p001:0005 627d57df0ca0d153 4 section
    guide:p001:0006 9dba85a21a7d4740 2 section
    guide:p001:0007 506e849dd39907d8 8 rule
    guide:p001:0008 615475e2c8ed81fe 9 rule
    pages:p001:0000 3392f15ebbc89003 19 page
    pages:p002:0001 38f3dcb9805d1300 11 page
    pages:p004:0002 771854d35fd9884c 19 page
    rows:p001:0000 37084617defce3d8 7 registry_row
    rows:p001:0001 24b3b84ceb484351 5 registry_row
    ");
}
